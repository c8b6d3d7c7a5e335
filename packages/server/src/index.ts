export { passwordLinkUrl } from "./auth/password-link.ts";
export { randomBase62 } from "./auth/token-form.ts";
export { type Config, ConfigError, readConfig, settings } from "./config.ts";
export { describeFinding, type SealLink } from "./core/audit-chain.ts";
export { disableUser, enableUser, makePasswordLink, replacePassword } from "./held-accounts.ts";
export { createUserToken, type InitialOwner, initializeOwner } from "./initial-owner.ts";
export { openStore, type RunningService, startService } from "./service.ts";
export { DirectoryLockedError } from "./store/directory-lock.ts";
export { verifyStoredAudit } from "./stored-audit.ts";
