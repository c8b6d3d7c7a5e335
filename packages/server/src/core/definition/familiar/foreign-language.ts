import { isJsonObject, type JsonObject } from "../../json/json.ts";
import { type Problem, pointerTo } from "../../problem.ts";

/**
 * Returns the one problem of a document in another workflow language; undefined for any other document. A problem for each unknown field would not
 * help users who do not know yet that the language is different.
 */
export function foreignLanguage(document: JsonObject): Problem | undefined {
  if (document.steps !== undefined) return undefined;
  const language = languages.find(({ isLanguageOf }) => isLanguageOf(document));
  if (language === undefined) return undefined;
  const { name, field, words } = language;
  const here = words.map(([theirs, ours]) => `\`${theirs}\` is ${ours}`).join(", ");
  const detail = `this is ${name}, and Stepwell has a different language. In a definition of Stepwell, ${here}. \`stepwell sample\` prints an example to begin with`;
  return { pointer: pointerTo("", field), detail };
}

/** A hint for a text that is not JSON. Empty when the text does not look like YAML either. */
export function yamlHint(text: string): string {
  return yaml.test(text) ? "; this looks like YAML, and a definition is JSON" : "";
}

/** Matches when the first line that is not a comment begins a YAML document or names a field. */
const yaml = /^(?:\s*#[^\n]*\n)*\s*(?:---|[A-Za-z_][\w-]*:(?:\s|$))/;

interface Language {
  /** The name with its article. */
  readonly name: string;
  readonly isLanguageOf: (document: JsonObject) => boolean;
  /** The field where the problem is shown. */
  readonly field: string;
  readonly words: readonly (readonly [theirs: string, ours: string])[];
}

const languages: readonly Language[] = [
  {
    name: "an Amazon States Language state machine",
    isLanguageOf: ({ States }) => isJsonObject(States),
    field: "States",
    words: [
      ["States", "`steps` (a list)"],
      ["StartAt", "the first step"],
      ["Next", "`transitionToStep`"],
      ["End", "`transitionToStep: null`"],
      ["Choice", "`transitionToStep.choose`"],
      ["Parallel", "a step of type `/service/parallel`"],
      ["Map", "a step of type `/service/forEach`"],
      ["Resource", "`integrationDetails`"],
      ["Parameters", "`input`"],
      ["Retry", "`retry`"],
      ["Catch", "`onFailure`"],
      ["TimeoutSeconds", "`timeoutSeconds`"],
    ],
  },
  {
    name: "a Conductor workflow",
    isLanguageOf: ({ tasks }) =>
      Array.isArray(tasks) && tasks.some((task) => isJsonObject(task) && task.taskReferenceName !== undefined),
    field: "tasks",
    words: [
      ["tasks", "`steps` (each names the next one in `transitionToStep`)"],
      ["taskReferenceName", "`name`"],
      ["type", "`integrationDetails.type`"],
      ["inputParameters", "`input`"],
      ["decisionCases", "`transitionToStep.choose`"],
      ["SIMPLE", "the type `/service/task`"],
      ["FORK_JOIN", "the type `/service/parallel`"],
      ["FORK_JOIN_DYNAMIC", "the type `/service/forEach`"],
      ["SUB_WORKFLOW", "the type `/service/job`"],
      ["retryCount", "`retry.maxAttempts` (the first attempt counts too)"],
      ["failureWorkflow", "`onFailure` of each step"],
    ],
  },
  {
    name: "a Serverless Workflow",
    isLanguageOf: ({ document, do: tasks }) =>
      isJsonObject(document) && document.dsl !== undefined && Array.isArray(tasks),
    field: "do",
    words: [
      ["do", "`steps`"],
      ["then", "`transitionToStep`"],
      ["switch", "`transitionToStep.choose`"],
      ["fork", "a step of type `/service/parallel`"],
      ["for", "a step of type `/service/forEach`"],
      ["call", "`integrationDetails.type`"],
      ["with", "`integrationDetails.config`"],
      ["catch", "`onFailure`"],
    ],
  },
  {
    name: "a GitHub Actions workflow",
    isLanguageOf: ({ jobs }) =>
      isJsonObject(jobs) && Object.values(jobs).some((job) => isJsonObject(job) && job["runs-on"] !== undefined),
    field: "jobs",
    words: [
      ["jobs", "`steps` (a list)"],
      ["needs", "`transitionToStep` of the previous step"],
      ["matrix", "a step of type `/service/forEach`"],
      ["if", "`transitionToStep.choose`"],
      ["uses", "`integrationDetails.type`"],
      ["with", "`integrationDetails.config`"],
      ["timeout-minutes", "`timeoutSeconds`"],
    ],
  },
];
