import { isWaiting } from "./job-calls.ts";

/**
 * The part of a WITH RECURSIVE that finds the lines of tasks that wait in a queue (`WaitingLine`), the highest priority first. It goes from one line
 * to the next by the index, so it does not read all tasks of a long line. It begins with the first line that meets the condition `first`.
 */
export function waitingLines(queue: string, first = "true"): string {
  return `line AS (
     (SELECT priority, workflow_id FROM job_call
      WHERE job_call.organization_id = $1 AND job_call.queue = ${queue} AND ${isWaiting} AND ${first}
      ORDER BY priority DESC, workflow_id DESC LIMIT 1)
     UNION ALL
     SELECT next.priority, next.workflow_id
     FROM line
     CROSS JOIN LATERAL (
       SELECT priority, workflow_id FROM job_call
       WHERE job_call.organization_id = $1 AND job_call.queue = ${queue} AND ${isWaiting}
         AND (job_call.priority, job_call.workflow_id) < (line.priority, line.workflow_id)
       ORDER BY priority DESC, workflow_id DESC LIMIT 1
     ) AS next
   )`;
}
