import { useCallback, useRef } from "react";
import { type IdempotencyHeader, idempotencyKey } from "./api.ts";
import { asProblem } from "./problem.ts";

/**
 * Keeps the Idempotency-Key of one form or button. The same content may be sent again because no answer came, because the answer was an error of the
 * service (5xx), or because of a double click. Then the key of the first request is used again, so that the requests have only one effect. A new
 * key is used after a success, after an answer with 4xx, and for other content.
 */
export function useOnce() {
  const unanswered = useRef<{ readonly content: string; readonly header: IdempotencyHeader } | undefined>(undefined);
  return useCallback(
    async <Result>(content: unknown, write: (header: IdempotencyHeader) => Promise<Result>): Promise<Result> => {
      const text = JSON.stringify(content);
      if (unanswered.current?.content !== text) unanswered.current = { content: text, header: idempotencyKey() };
      const { header } = unanswered.current;
      try {
        const result = await write(header);
        unanswered.current = undefined;
        return result;
      } catch (error) {
        if (isAnswer(error)) unanswered.current = undefined;
        throw error;
      }
    },
    [],
  );
}

/** Tells whether the service rejected the request. Otherwise the request may have been carried out. */
function isAnswer(error: unknown): boolean {
  const { status } = asProblem(error);
  return status >= 400 && status < 500;
}
