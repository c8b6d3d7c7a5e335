import { useMutation } from "@tanstack/react-query";
import { type JobKey, sendJobEvent } from "../../api/job.ts";
import { toast } from "../../parts/toasts.ts";
import { texts } from "../../texts/texts.ts";

/** Sends an event and says what it did. */
export function useSendEvent(key: JobKey, onSent?: () => void) {
  return useMutation({
    mutationFn: (event: { readonly eventId: string; readonly payload?: unknown }) => sendJobEvent(key, event),
    onSuccess: ({ eventId, outcome }) => {
      const words = texts.job;
      toast({
        kind: outcome === "unmatched" ? "failure" : "success",
        text: words.sent(eventId, words.outcomes[outcome]),
      });
      onSent?.();
    },
  });
}
