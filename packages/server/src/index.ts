export { type Config, ConfigError, readConfig, settings } from "./config.ts";
export { createUserToken, type InitialOwner, initializeOwner } from "./initial-owner.ts";
export { openStore, type RunningService, startService } from "./service.ts";
