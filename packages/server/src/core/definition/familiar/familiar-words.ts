import type { FamiliarWords } from "../../json/raw-object.ts";

// Each entry of a table has our word first (a field, a path of fields, or a phrase), and then the words of other workflow languages for it. Our words
// are looked up by the words of the other languages.

export const definitionWords = tableOf({
  workflowName: "name id key title workflow workflowId",
  steps: "states tasks jobs activities nodes stages do",
  "the first of `steps`": "startAt start startStep startState initial entryPoint",
  definitions: "schemas types models $defs components",
  timeoutSeconds: "timeout timeoutMs executionTimeout workflowExecutionTimeout runTimeout",
  "`inputDefinition` of the first step": "input inputs inputSchema inputParameters",
  "the output of the last step": "output outputs outputSchema outputParameters",
  "`onFailure` of a step": "onFailure onError catch failureWorkflow",
  "`retry` of a step": "retry retries retryPolicy",
});

export const stepWords = tableOf({
  name: "id key title stepName stepId taskName taskReferenceName",
  "integrationDetails.type": "type kind uses action handler task resource executor activity call run",
  "integrationDetails.config": "config with settings options properties",
  "integrationDetails.inputDefinition": "inputDefinition inputSchema",
  "integrationDetails.outputDefinition": "outputDefinition outputSchema",
  input: "inputs parameters params args arguments inputPath inputParameters inputMapping payload data",
  output: "outputs result resultPath resultSelector outputPath outputMapping",
  transitionToStep: "next nextStep goto then to transition transitions transitionTo onSuccess",
  "`transitionToStep: null`": "end isEnd isTerminal",
  "transitionToStep.choose": "choose choice choices switch if when condition conditions decisionCases",
  "transitionToStep.else": "else default defaultCase otherwise",
  "`transitionToStep` of the previous step": "needs dependsOn after",
  onFailure: "catch catchers onError onFail onException fallback errorHandler",
  retry: "retryPolicy retryStrategy",
  "retry.maxAttempts": "attempts maxAttempts",
  "`retry.maxAttempts` (the first attempt counts too)": "retries maxRetries retryCount retryLimit",
  "retry.initialIntervalSeconds": "retryDelay retryDelaySeconds retryInterval interval intervalSeconds",
  "retry.backoffRate": "backoff backoffRate backoffCoefficient",
  timeoutSeconds: "timeout timeoutMs timeoutMinutes startToCloseTimeout scheduleToCloseTimeout responseTimeoutSeconds",
  "integrationDetails.config.branches": "branches forkTasks",
  "integrationDetails.config.items": "items itemsPath itemReader forEach loopOver dynamicForkTasksParam",
  "integrationDetails.config.step": "iterator itemProcessor body dynamicForkTasks",
  "integrationDetails.config.concurrency": "concurrency maxConcurrency parallelism maxParallel",
  "integrationDetails.config.maxFailures": "maxFailures toleratedFailureCount",
  "integrationDetails.config.queue": "queue taskQueue taskList",
  "integrationDetails.config.heartbeatSeconds": "heartbeatSeconds heartbeat heartbeatTimeout",
  "`transitionToStep: null` at the end of each branch": "join joinOn",
});

export const detailWords = tableOf({
  type: "kind uses action resource executor service",
  config: "with settings options properties parameters params args arguments",
  inputDefinition: "inputSchema",
  outputDefinition: "outputSchema",
  "a field of the step": "name input output retry timeoutSeconds onFailure transitionToStep",
  "a field of `config`": "queue priority branches items step concurrency eventIds url method seconds functionName",
});

/**
 * Words for the config fields of all executors. A word for a field is translated only if the executor has the field. A word for a phrase is always
 * translated.
 */
export const configWords = tableOf({
  branches: "forkTasks forks lanes tasks steps",
  until: "completionCondition joinOn waitFor mode",
  items: "itemsPath itemReader inputPath list collection array over in values loopOver dynamicForkTasksParam",
  step: "iterator itemProcessor body do startAt startStep firstStep dynamicForkTasks",
  concurrency: "maxConcurrency parallelism maxParallel limit batchSize",
  onItemFailure: "onError onFailure continueOnError failFast errorHandling",
  maxFailures: "toleratedFailureCount maxErrors",
  queue: "taskQueue taskList taskType topic queueName activity activityArn",
  heartbeatSeconds: "heartbeat heartbeatTimeout heartbeatTimeoutSeconds leaseSeconds visibilityTimeout",
  eventIds: "event events eventId eventName signal signalName",
  seconds: "duration delay delaySeconds waitSeconds",
  url: "uri endpoint apiEndpoint",
  method: "httpMethod verb",
  functionName: "function functionArn arn",
  workflow: "workflowId workflowName subWorkflow subWorkflowParam stateMachine stateMachineArn child",
  versionNumber: "version",
  wait: "waitForCompletion sync",
  "`timeoutSeconds` of the step": "timeout timeoutSeconds timeoutMs startToCloseTimeout",
  "`retry` of the step": "retry retries retryPolicy maxAttempts",
});

export const retryWords = tableOf({
  maxAttempts: "attempts maximumAttempts count limit max times",
  "`maxAttempts` (the first attempt counts too)": "retries maxRetries",
  initialIntervalSeconds: "interval intervalSeconds initialInterval delay delaySeconds initialDelay",
  backoffRate: "backoff backoffCoefficient factor multiplier rate",
  maxIntervalSeconds: "maxDelay maxDelaySeconds maxInterval maximumInterval cap",
  jitter: "jitterStrategy randomize random",
  on: "errorEquals errors errorCodes retryOn",
});

export const choiceWords = tableOf({
  choose: "choices conditions when cases switch rules if",
  else: "default defaultCase otherwise fallback",
});

export const optionWords = tableOf({
  if: "condition when test expression variable",
  then: "next goto to step transitionToStep target",
});

export const executorWords = tableOf({
  "/service/noop": "noop pass nothing echo succeed dummy",
  "/service/cloud/function": "lambda function cloudFunction awsLambda arn:aws:states:::lambda:invoke",
  "/service/waitForEventIds": "event events waitForEvent waitForSignal signal human approval manual callback",
  "/service/http": "http https rest webhook fetch request httpRequest arn:aws:states:::http:invoke",
  "/service/delay": "delay wait sleep timer pause",
  "/service/transform": "transform set inject jq jsonJqTransform",
  "/service/task": "task worker activity executeActivity scheduleActivity simple queue serviceTask",
  "`/service/task` with an expression as its `queue`": "dynamic",
  "/service/job":
    "job workflow subWorkflow startWorkflow childWorkflow child executeChild startChild executeChildWorkflow startChildWorkflow callActivity arn:aws:states:::states:startExecution arn:aws:states:::states:startExecution.sync",
  "/service/parallel": "parallel fork forkJoin all",
  '`/service/parallel` with `"until": "any"`': "race any first firstOf select",
  "`transitionToStep: null` at the end of each branch": "join",
  "`transitionToStep.choose` of the previous step": "choice switch decision if",
  "/service/forEach": "forEach map loop each for dynamicFork forkJoinDynamic distributedMap iterator matrix batch",
  "a loop by `transitionToStep.choose`": "doWhile while repeat",
});

function tableOf(table: Readonly<Record<string, string>>): FamiliarWords {
  const words = new Map(
    Object.entries(table).flatMap(([ours, theirs]) => theirs.split(" ").map((word) => [plain(word), ours] as const)),
  );
  return (written) => words.get(plain(written));
}

/** `retry_count`, `RetryCount` and `retry-count` count as one word, and so do `lambda` and `/service/lambda`. */
function plain(word: string): string {
  return word
    .replace(/^\/?service\//, "")
    .toLowerCase()
    .replaceAll(/[-_ ]/g, "");
}
