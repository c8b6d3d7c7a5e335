/** A call is carried out by a node, which carries out many at a time, or by a worker, whose lease is for this one task. */
export type CallHolder = "node" | "worker";

/** A dying node interrupts all its calls, and any of them may be the cause. So the first losses of a call only make it a suspect. */
const suspectAfterInterruptions = 2;

/**
 * The maximum number of interruptions for which a call is blamed. Without a maximum, a step that crashes its node would move from node to node for
 * ever. A call of a node is blamed only as a suspect, and a node begins its suspects one after another. So a call hardly ever fails because another
 * call crashed their node.
 */
const maxInterruptions = 5;

/** Whether the call is a suspect after this many interruptions. A node begins its suspects one after another. */
export function isSuspect(holder: CallHolder, interruptions: number): boolean {
  return holder === "node" && interruptions >= suspectAfterInterruptions;
}

/**
 * Whether the call was interrupted too often to be made again. A task is blamed for each lost worker, because a worker's lease is for one task, so no
 * other task can have ended it.
 */
export function isLostTooOften(holder: CallHolder, interruptions: number): boolean {
  const blamedFor = holder === "node" ? interruptions - suspectAfterInterruptions : interruptions;
  return blamedFor > maxInterruptions;
}
