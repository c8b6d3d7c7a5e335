import { AddressRule } from "../../outbound/address-rule.ts";
import { Agents } from "../../outbound/agents.ts";
import type { ResolveHost } from "../../outbound/guarded-connector.ts";
import { bounded, failed } from "../call-failure.ts";
import { isConstant } from "../constant.ts";
import type { CallExecutor, CallRequest, CallResult, ExecutorDescription } from "../executor.ts";
import { answerSchema, readAnswer } from "./http-answer.ts";
import { configProblems, configSchema } from "./http-config.ts";
import { exchange } from "./http-exchange.ts";
import { failureOf } from "./http-failure.ts";
import { requestOf } from "./http-request.ts";
import type { HttpSettings } from "./http-settings.ts";

/** `/service/http`: sends one HTTP request. The output is the answer to it. `resolve` replaces the name servers. */
export function http(settings: HttpSettings, resolve?: ResolveHost): CallExecutor & ExecutorDescription {
  const rule = new AddressRule(settings.httpStepAllowedAddresses);
  const parts: Parts = { settings, rule, agents: new Agents(rule, resolve) };
  return {
    type: "/service/http",
    title: "HTTP request",
    summary: "Sends an HTTP request; the output is the status, the headers and the body of the answer.",
    behaviour: "call",
    resultSchema: answerSchema,
    configSchema: configSchema(settings.maxOutputBytes),
    expressionFields: { url: { type: "string" }, headers: { type: "object" }, query: { type: "object" }, body: {} },
    checkConfig: (config) => configProblems(config, rule, isConstant),
    call: (request, signal) => call(request, signal, parts),
    close: () => parts.agents.close(),
  };
}

interface Parts {
  readonly settings: HttpSettings;
  readonly rule: AddressRule;
  readonly agents: Agents;
}

async function call(request: CallRequest, signal: AbortSignal, { settings, rule, agents }: Parts): Promise<CallResult> {
  // The config is checked again for two reasons: all its values are known only now, and the operator may have withdrawn an address since the version
  // was registered.
  const [problem] = configProblems(request.config, rule);
  if (problem !== undefined) {
    const message = `In the step's config ${bounded(problem.pointer, maxPointerLength)} ${problem.detail}.`;
    return failed("permanent", { code: "ExecutorError", message, type: "InvalidRequest" });
  }
  const sent = requestOf(request);
  try {
    const answer = await exchange(sent, { rule, signal, agentOf: () => agents.of(request.organizationId) });
    return await readAnswer(answer, request.config, settings);
  } catch (error) {
    return failureOf(error, { request: sent, signal, timeoutMs: request.timeoutMs });
  }
}

/** The longest pointer in a message. The name of a header may come from the data, so it may be long. */
const maxPointerLength = 200;
