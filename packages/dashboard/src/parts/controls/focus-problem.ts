import { useEffect, useRef } from "react";

/**
 * Moves the focus to the first field with a problem, which may be out of sight. A screen reader then reads the field together with its problem, which it
 * would not notice otherwise.
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
