import type { Config } from "../../../config.ts";

export type CloudFunctionSettings = Pick<
  Config,
  | "cloudFunctionEndpoint"
  | "allowFunctionEndpoints"
  | "cloudFunctionRoleName"
  | "allowFunctionRoles"
  | "maxOutputBytes"
  | "maxJsonDepth"
  | "maxNameLength"
>;
