import { useSyncExternalStore } from "react";
import { asProblem } from "../api/problem.ts";

export interface Toast {
  readonly id: number;
  readonly kind: "success" | "failure";
  readonly text: string;
  /** An action that the toast offers, such as undoing the change. */
  readonly action?: { readonly label: string; readonly run: () => void };
}

/** A toast is shown long enough to read it. A failure, or a change that can be undone, is shown longer. */
const shortMs = 5_000;
const longMs = 12_000;

let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

/** Shows the result of the user's action in a corner of the page, and announces it to screen readers. */
export function toast(message: Omit<Toast, "id">): void {
  const id = nextId++;
  change([...toasts.slice(-3), { ...message, id }]);
  setTimeout(() => dismissToast(id), message.kind === "failure" || message.action !== undefined ? longMs : shortMs);
}

/** Shows the error of an action that has no form to show it. */
export function toastFailure(error: unknown): void {
  toast({ kind: "failure", text: asProblem(error).message });
}

export function dismissToast(id: number): void {
  if (toasts.some((one) => one.id === id)) change(toasts.filter((one) => one.id !== id));
}

export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(subscribe, () => toasts);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}
