import { actor } from "./en/actor.ts";
import { charts } from "./en/charts.ts";
import { editor } from "./en/editor.ts";
import { graph } from "./en/graph.ts";
import { home } from "./en/home.ts";
import { job } from "./en/job.ts";
import { jobs } from "./en/jobs.ts";
import { json } from "./en/json.ts";
import { parts } from "./en/parts.ts";
import { problem } from "./en/problem.ts";
import { shell } from "./en/shell.ts";
import { status } from "./en/status.ts";
import { submit } from "./en/submit.ts";
import { workflow, workflows } from "./en/workflows.ts";

/** English. One file for each area; sentences with values in them are functions. */
export const en = {
  language: "en",
  actor,
  charts,
  editor,
  graph,
  home,
  job,
  jobs,
  json,
  parts,
  problem,
  shell,
  status,
  submit,
  workflow,
  workflows,
};
