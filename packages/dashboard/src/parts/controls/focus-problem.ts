import { useEffect, useRef } from "react";

/**
 * Moves the focus to the first field with a problem, because this field may be out of sight. A screen reader then reads out the field and its
 * problem; otherwise it would not mention the problem.
 */
export function focusProblem(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
}

/** Moves the focus to the first field with a problem each time the service has answered. Returns the reference for the form. */
export function useProblemFocus(isBusy: boolean) {
  const form = useRef<HTMLFormElement>(null);
  const wasBusy = useRef(isBusy);
  useEffect(() => {
    if (wasBusy.current && !isBusy) focusProblem(form.current);
    wasBusy.current = isBusy;
  }, [isBusy]);
  return form;
}
