import { readdirSync, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { StepwellError } from "@stepwell/client";
import { deployText, outcomeOf } from "../commands/deploy.ts";
import type { Connection } from "../connection/connection.ts";
import { CommandError } from "../exit-code.ts";
import { readText } from "../input-file.ts";
import { explain, print } from "../output/terminal.ts";

type Place = Pick<Connection, "client" | "organizationId">;

/** Deploys the definitions in these files and directories, now and whenever one changes. Watches until the process ends. */
export async function watchDefinitions(place: Place, places: readonly Watched[]): Promise<void> {
  const deployed = new Map<string, string>();
  const deploy = async (file: string) => {
    try {
      const text = readText(file);
      // The file system often reports one change twice: the second report has the same time and text. A file that was saved again without a change
      // has a new time, and is deployed again, because its last deployment may have failed.
      const change = `${statSync(file).mtimeMs} ${text}`;
      if (deployed.get(file) === change) return;
      deployed.set(file, change);
      print(`${file}: ${outcomeOf(await deployText(place, { file, text }, "$LIVE"))}`);
    } catch (error) {
      explain(error);
    }
  };
  let queue = Promise.resolve();
  for (const { directory, holds } of places) {
    // The directory is watched and not the file, because most editors replace the file by a new one.
    watch(directory, (_, name) => {
      if (name !== null && holds(name)) queue = queue.then(() => settled()).then(() => deploy(join(directory, name)));
    });
    for (const name of readdirSync(directory).filter(holds)) queue = queue.then(() => deploy(join(directory, name)));
  }
  await queue;
}

/** A directory, and which of its files are deployed. */
export interface Watched {
  readonly directory: string;
  readonly holds: (name: string) => boolean;
}

export function watched(path: string): Watched {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new CommandError("usage", `There is no file or directory ${path}.`);
  if (found.isDirectory()) return { directory: path, holds: (name) => name.endsWith(".json") };
  return { directory: dirname(path), holds: (name) => name === basename(path) };
}

/** Waits a moment, because the file system can report a change while an editor is still writing. */
async function settled(): Promise<void> {
  await sleep(50);
}

/** Watches the newest 50 jobs until the service stops. Prints a line when a job is new or has made progress. */
export async function showJobsLive({ client, organizationId }: Place): Promise<void> {
  const shown = new Map<string, string>();
  const recent = { path: { organizationId }, query: { pageSize: 50 } };
  for (let isFirst = true; ; isFirst = false) {
    const page = await client.call("ListJobs", recent).catch((error: unknown) => {
      // The service runs in this process, and cannot be reached once it stops.
      if (error instanceof StepwellError && error.status === 0) return undefined;
      throw error;
    });
    if (page === undefined) return;
    for (const job of page.jobs.toReversed()) {
      const { awaitingEventIds = [], stepName, error } = job;
      const waiting = awaitingEventIds.length > 0 ? `, which waits for ${awaitingEventIds.join(", ")}` : "";
      const where = stepName === undefined ? "" : ` in ${stepName}${waiting}`;
      const text = `${job.status}${where}${error === undefined ? "" : `: ${error.message}`}`;
      if (!isFirst && shown.get(job.jobId) !== text) print(`${job.workflowName}  ${job.jobId}  ${text}`);
      shown.set(job.jobId, text);
    }
    await sleep(pauseMs);
  }
}

const pauseMs = 500;
