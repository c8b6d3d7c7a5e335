/** A call is carried out by a node, which has one lease for all its calls, or by a worker, which has a lease for each of its tasks. */
export type CallHolder = "node" | "worker";

/** A dying node interrupts all its calls, and any of them may be the cause. So the first losses of a call only make it a suspect. */
const suspectAfterInterruptions = 2;

/**
 * A call is not made again after it was blamed for more interruptions than this. Without a maximum, a step that crashes its node would move from node
 * to node for ever. A call of a node is blamed only after it has become a suspect, and a node begins its suspects one after another. So a call hardly
 * ever fails because another call crashed the node.
 */
const maxInterruptions = 5;

export function isSuspect(holder: CallHolder, interruptions: number): boolean {
  return holder === "node" && interruptions >= suspectAfterInterruptions;
}

/**
 * Whether the call was interrupted too often to be made again. A task is blamed for each loss, because each task has a lease of its own, and because
 * a worker cannot be made to begin its tasks one after another. So a task may also be blamed when another task of the same worker was the cause.
 */
export function isLostTooOften(holder: CallHolder, interruptions: number): boolean {
  const blamedFor = holder === "node" ? interruptions - suspectAfterInterruptions : interruptions;
  return blamedFor > maxInterruptions;
}
