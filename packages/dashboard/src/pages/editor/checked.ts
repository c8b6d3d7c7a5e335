import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, resultOf } from "../../api/api.ts";
import { type WorkflowKey, workflowQueryKey } from "../../api/workflows.ts";

/** One error or warning of the service about a definition. */
export interface Remark {
  readonly pointer: string;
  readonly detail: string;
  /** The place in the text that was checked. Line and column are counted from 1. */
  readonly line: number;
  readonly column: number;
  readonly severity: "error" | "warning";
}

export interface Checked {
  readonly remarks: readonly Remark[];
  /** The text that the remarks are about. */
  readonly text: string;
  /** Tells whether the present text of the editor is valid; undefined while it is being checked, and if it could not be checked. */
  readonly isValid: boolean | undefined;
  readonly error: Error | null;
  /** Asks for the check again. */
  readonly retry: () => void;
}

const typingPauseMs = 350;
const none: readonly Remark[] = [];

/** Asks the service to check the text, a moment after the user has stopped typing. */
export function useChecked(workflow: WorkflowKey, text: string): Checked {
  const settled = useSettled(text);
  const { data, error, isPlaceholderData, refetch } = useQuery(checkQuery(workflow, settled));
  const isCurrent = settled === text && data !== undefined && !isPlaceholderData;
  return {
    remarks: data?.remarks ?? none,
    text: data?.text ?? settled,
    isValid: isCurrent ? data.isValid : undefined,
    error,
    retry: () => void refetch(),
  };
}

function checkQuery(workflow: WorkflowKey, definition: string) {
  return queryOptions({
    queryKey: [...workflowQueryKey(workflow), "check", definition],
    queryFn: async ({ signal }) => {
      const path = "/organizations/{organizationId}/workflows/{workflowId}/versions/validate";
      const { valid, errors, warnings } = await resultOf(
        api.POST(path, { params: { path: workflow }, body: { definition }, signal }),
      );
      const remarks: readonly Remark[] = [
        ...errors.map((one) => ({ ...one, severity: "error" as const })),
        ...warnings.map((one) => ({ ...one, severity: "warning" as const })),
      ];
      return { isValid: valid, remarks, text: definition };
    },
    placeholderData: keepPreviousData,
    // The same text always gets the same result.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
}

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), typingPauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
