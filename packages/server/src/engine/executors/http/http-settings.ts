import type { Config } from "../../../config.ts";

export type HttpSettings = Pick<Config, "httpStepAllowedAddresses" | "maxOutputBytes" | "maxJsonDepth">;
