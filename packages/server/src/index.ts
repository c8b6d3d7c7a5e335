export { type Config, ConfigError, maxPerMinute, readConfig, settings } from "./config.ts";
export { createUserToken, type InitialOwner, initializeOwner } from "./initial-owner.ts";
export { changeOrganizationLimits, type LimitChanges } from "./operator-limits.ts";
export { openStore, type RunningService, startService } from "./service.ts";
