import { account, activity, secondFactor, sessions, userTokens } from "./en/account.ts";
import { apiTokens } from "./en/api-tokens.ts";
import { audit } from "./en/audit.ts";
import { docs } from "./en/docs.ts";
import { editor } from "./en/editor.ts";
import { graph } from "./en/graph.ts";
import { home } from "./en/home.ts";
import { job } from "./en/job.ts";
import { jobs } from "./en/jobs.ts";
import { limits, rateLimits } from "./en/limits.ts";
import { invitation, invitations, members, roles, secondFactorDemand } from "./en/members.ts";
import { oauthClients } from "./en/oauth-clients.ts";
import { actor, charts, json, parts, problem, status } from "./en/parts.ts";
import { permissionGroups, permissions } from "./en/permissions.ts";
import { expiry, permitted, picker, secret, settings } from "./en/settings.ts";
import { shell } from "./en/shell.ts";
import { signInProviders } from "./en/sign-in-providers.ts";
import { submit } from "./en/submit.ts";
import { taskQueue, taskQueues } from "./en/task-queues.ts";
import { vocabulary } from "./en/vocabulary.ts";
import { tagHistory, workflow, workflows } from "./en/workflows.ts";

const ofAccount = { account, activity, secondFactor, sessions, userTokens };
const inSettings = {
  audit,
  limits,
  rateLimits,
  invitations,
  members,
  oauthClients,
  roles,
  secondFactorDemand,
  apiTokens,
  expiry,
  permissionGroups,
  permissions,
  permitted,
  picker,
  secret,
  settings,
  signInProviders,
};

/** The English texts, with one file for each area. Sentences that contain values are functions. */
export const en = {
  language: "en",
  actor,
  charts,
  docs,
  editor,
  graph,
  home,
  invitation,
  job,
  jobs,
  json,
  parts,
  problem,
  shell,
  status,
  submit,
  tagHistory,
  taskQueue,
  taskQueues,
  vocabulary,
  workflow,
  workflows,
  ...inSettings,
  ...ofAccount,
};
