export { passwordLinkUrl } from "./auth/password-link.ts";
export { signInLinkUrl } from "./auth/sign-in-link.ts";
export { randomBase62 } from "./auth/token-form.ts";
export { type Config, ConfigError, maxPerMinute, readConfig, settings } from "./config.ts";
export { describeFinding, type SealLink } from "./core/audit-chain.ts";
export type { Finding } from "./doctor/finding.ts";
export { describeUnknownVariables } from "./environment.ts";
export {
  createUserToken,
  disableUser,
  enableUser,
  makePasswordLink,
  makeSignInLink,
  replacePassword,
} from "./operator/accounts.ts";
export { verifyStoredAudit } from "./operator/audit.ts";
export { examineInstallation } from "./operator/doctor.ts";
export { type InitialOwner, initializeOwner, requireOwnerRequest } from "./operator/initial-owner.ts";
export { changeOrganizationLimits, type LimitChanges } from "./operator/organization-limits.ts";
export { openStore, type RunningService, startService } from "./service.ts";
export { inDataDirectory } from "./store/data-directory.ts";
export { DirectoryLockedError } from "./store/directory-lock.ts";
