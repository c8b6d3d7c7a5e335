export { randomBase62 } from "./auth/credentials/token-form.ts";
export { passwordLinkUrl } from "./auth/passwords/password-link.ts";
export { signInLinkUrl } from "./auth/passwords/sign-in-link.ts";
export {
  type Config,
  ConfigError,
  type MaximumName,
  maximumNames,
  maximumSettings,
  maxPerMinute,
  readConfig,
  settings,
} from "./config.ts";
export { describeFinding, type SealLink } from "./core/audit-chain.ts";
export type { Finding } from "./doctor/finding.ts";
export { describeUnknownVariables } from "./environment.ts";
export { openStore } from "./open-store.ts";
export {
  createUserToken,
  disableUser,
  enableUser,
  limitOrganizations,
  makePasswordLink,
  makeSignInLink,
  replacePassword,
} from "./operator/accounts.ts";
export { verifyStoredAudit } from "./operator/audit.ts";
export { checkDefinition } from "./operator/definition.ts";
export { examineInstallation } from "./operator/doctor.ts";
export { type InitialOwner, initializeOwner, requireOwnerRequest } from "./operator/initial-owner.ts";
export { changeOrganizationLimits, type LimitChanges, type MaximumChanges } from "./operator/organization-limits.ts";
export { type RunningService, type StartOptions, startService } from "./service.ts";
export { inDataDirectory } from "./store/home/data-directory.ts";
export { DirectoryLockedError } from "./store/home/directory-lock.ts";
