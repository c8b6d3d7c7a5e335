import { maxTimeoutSeconds } from "../../../core/definition/definition-timeouts.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { type Problem, pointerTo } from "../../../core/problem.ts";
import type { Identity, LambdaAccess } from "./cloud-function-clients.ts";
import type { CloudFunctionSettings } from "./cloud-function-settings.ts";

/** The target of a call, made from a step's config and the operator's settings: the function, the place and the identity. */
export interface FunctionTarget {
  /** The function's name for messages, whatever form of the name the endpoint needs. */
  readonly arn: string;
  readonly functionName: string;
  readonly qualifier: string | undefined;
  readonly access: LambdaAccess;
}

export const configSchema: JsonObject = {
  type: "object",
  properties: {
    region: {
      description: "The AWS region of the function, such as eu-west-1.",
      type: "string",
      pattern: "^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}$",
      maxLength: 32,
    },
    accountId: {
      description: "The AWS account that owns the function: 12 digits.",
      type: "string",
      pattern: "^[0-9]{12}$",
    },
    functionName: {
      description: "The name of the function, without its ARN, version or alias.",
      type: "string",
      pattern: "^[A-Za-z0-9_-]+$",
      maxLength: 140,
    },
    qualifier: {
      description: "A version or an alias of the function.",
      type: "string",
      pattern: "^(\\$LATEST|[A-Za-z0-9_-]+)$",
      maxLength: 128,
    },
    roleArn: {
      description: "The role with which the function is called. It must be a role of the function's account.",
      type: "string",
      pattern: "^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$",
      maxLength: 2_048,
    },
    // The URL may hold no user and no password, because a definition can be read by everybody who may read the workflow.
    endpoint: {
      description: "The address to call instead of the region's own.",
      type: "string",
      pattern: "^https?://[^/@?#]+(/[^?#]*)?$",
      maxLength: 2_048,
    },
    timeoutMs: {
      description:
        "The timeout of one attempt in milliseconds. A step may have this or its own timeoutSeconds, but not both.",
      type: "integer",
      minimum: 1,
      maximum: maxTimeoutSeconds * 1000,
    },
  },
  required: ["region", "accountId", "functionName"],
  additionalProperties: false,
};

export function checkConfig(config: JsonObject, settings: CloudFunctionSettings): readonly Problem[] {
  const { endpoint, roleArn, accountId } = config;
  const problems: Problem[] = [];
  for (const [field, setting] of disallowedConfigFields(settings)) {
    if (config[field] === undefined) continue;
    const detail = `is not allowed on this service; its operator can allow it with ${setting}=true`;
    problems.push({ pointer: pointerTo("", field), detail });
  }
  if (typeof endpoint === "string" && !URL.canParse(endpoint)) {
    problems.push({ pointer: "/endpoint", detail: "is not an address; give one such as http://localhost:3002" });
  }
  if (typeof roleArn === "string" && roleArn.split(":")[4] !== accountId) {
    // A role in another account would also need a policy on the function. More likely, one of the two account ids is mistyped.
    problems.push({
      pointer: "/roleArn",
      detail: "is a role of another account than `accountId`; name a role of the function's account",
    });
  }
  return problems;
}

/** The config fields that the operator has not allowed, each with the setting that would allow it. */
export function disallowedConfigFields(settings: CloudFunctionSettings): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  if (!settings.allowFunctionEndpoints) fields.set("endpoint", "STEPWELL_ALLOW_FUNCTION_ENDPOINTS");
  if (!settings.allowFunctionRoles) fields.set("roleArn", "STEPWELL_ALLOW_FUNCTION_ROLES");
  return fields;
}

/**
 * Reads the timeout of one attempt from the field `timeoutMs` of the config; undefined when the config has none. Then the `timeoutSeconds` of the
 * step applies, if the step has one.
 */
export function timeoutMsOf({ timeoutMs }: JsonObject): number | undefined {
  return typeof timeoutMs === "number" ? timeoutMs : undefined;
}

/** Makes the target of a call. The config must fit `configSchema` and have passed `checkConfig`. */
export function targetOf(config: JsonObject, organizationId: string, settings: CloudFunctionSettings): FunctionTarget {
  const { region, accountId, functionName, qualifier, roleArn, endpoint } = config as JsonObject & FunctionConfig;
  const url = endpoint === undefined ? settings.cloudFunctionEndpoint : new URL(endpoint);
  const partition = partitionOf(region);
  const arn = `arn:${partition}:lambda:${region}:${accountId}:function:${functionName}`;
  const fullArn = qualifier === undefined ? arn : `${arn}:${qualifier}`;
  if (url !== undefined && !isLambda(url)) {
    const access: LambdaAccess = { region, endpoint: url.href, identity: { type: "placeholder", accountId } };
    return { arn: fullArn, functionName, qualifier, access };
  }
  const { cloudFunctionRoleName: roleName } = settings;
  const ownRole = roleName === undefined ? undefined : `arn:${partition}:iam::${accountId}:role/${roleName}`;
  const identity = identityOf(roleArn ?? ownRole, organizationId);
  const access: LambdaAccess = { region, endpoint: url?.href, identity };
  return { arn: fullArn, functionName: fullArn, qualifier: undefined, access };
}

interface FunctionConfig {
  readonly region: string;
  readonly accountId: string;
  readonly functionName: string;
  readonly qualifier?: string;
  readonly roleArn?: string;
  readonly endpoint?: string;
}

function identityOf(roleArn: string | undefined, organizationId: string): Identity {
  return roleArn === undefined ? { type: "service" } : { type: "role", roleArn, organizationId };
}

function partitionOf(region: string): string {
  if (region.startsWith("cn-")) return "aws-cn";
  if (region.startsWith("us-gov-")) return "aws-us-gov";
  return "aws";
}

/**
 * Whether the address is Lambda itself (such as a VPC's own endpoint for it) and not an emulator. Requests to Lambda and to an emulator differ in the
 * function's name and in the credentials. A request to Lambda names the function by its ARN, because AWS would look for a plain name in the caller's
 * own account. A request to an emulator has the plain name in its path; serverless-offline accepts no other name. Only AWS may receive a request that
 * is signed with the service's credentials, because the request carries their session token.
 */
function isLambda({ protocol, hostname }: URL): boolean {
  return protocol === "https:" && lambdaHost.test(hostname);
}

const lambdaHost = /^(vpce-[a-z0-9-]+\.)?lambda(-fips)?\.[a-z0-9-]+\.(vpce\.)?(amazonaws\.com(\.cn)?|api\.aws)$/;
