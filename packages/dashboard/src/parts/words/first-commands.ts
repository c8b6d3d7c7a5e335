import { shellWord } from "./shell-word.ts";

/** The commands that empty pages offer to copy. A test of the command line runs each of them. */
export const deploySample = "npx stepwell sample > order-approval.json\nnpx stepwell deploy order-approval.json";

export const submitSample = `npx stepwell submit order-approval --input '{"sku":"STEP-1","count":1}'`;

/** These commands start a worker, which takes tasks of the queue `thumbnails`. */
export const startWorker = "npx stepwell sample worker.ts > worker.ts\nnode worker.ts";

export const submitTask = `npx stepwell queue submit thumbnails --input '{"image":"cat.png","widths":[64,128]}'`;

/** The commands for a workflow without a version: they deploy the sample under the workflow's name. */
export function deployFirst(name: string): string {
  return `npx stepwell sample --name ${shellWord(name)} > workflow.json\nnpx stepwell deploy workflow.json`;
}
