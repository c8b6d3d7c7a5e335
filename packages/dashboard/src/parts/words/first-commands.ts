import { shellWord } from "./shell-word.ts";

/** What empty pages offer to copy. A test of the command line runs each as it stands here. */
export const deploySample = "npx stepwell sample > order-approval.json\nnpx stepwell deploy order-approval.json";

export const submitSample = `npx stepwell submit order-approval --input '{"sku":"STEP-1","count":1}'`;

/** For a workflow without a version: a definition with its name to begin with. */
export function deployFirst(name: string): string {
  return `npx stepwell sample --name ${shellWord(name)} > workflow.json\nnpx stepwell deploy workflow.json`;
}
