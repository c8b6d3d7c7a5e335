import { accountExamples } from "./account.ts";
import { apiTokensExamples } from "./api-tokens.ts";
import { auditExamples } from "./audit.ts";
import type { Example } from "./example.ts";
import { jobReadsExamples } from "./job-reads.ts";
import { jobsExamples } from "./jobs.ts";
import { membersExamples } from "./members.ts";
import { organizationsExamples } from "./organizations.ts";
import { serviceExamples } from "./service.ts";
import { tasksExamples } from "./tasks.ts";
import { workflowsExamples } from "./workflows.ts";

/** The example of each operation, by the operation's name. An operation that has no body to show has no example. */
export const examples: Readonly<Record<string, Example>> = {
  ...serviceExamples,
  ...organizationsExamples,
  ...membersExamples,
  ...workflowsExamples,
  ...jobsExamples,
  ...jobReadsExamples,
  ...tasksExamples,
  ...apiTokensExamples,
  ...accountExamples,
  ...auditExamples,
};
