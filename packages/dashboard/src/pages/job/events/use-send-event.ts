import { useMutation } from "@tanstack/react-query";
import { type JobKey, type NewEvent, sendJobEvent } from "../../../api/job.ts";
import { expectNews } from "../../../api/live/job-watch.ts";
import { useOnce } from "../../../api/use-once.ts";
import { toast } from "../../../parts/toasts.ts";
import { texts } from "../../../texts/texts.ts";

/** Sends an event, and then shows its outcome. */
export function useSendEvent(key: JobKey, onSent?: () => void) {
  const once = useOnce();
  return useMutation({
    mutationFn: (event: NewEvent) => once(event, (header) => sendJobEvent(key, event, header)),
    onSuccess: ({ eventId, outcome, warnings }) => {
      const words = texts.job;
      expectNews(key);
      toast({
        kind: outcome === "unmatched" || warnings.length > 0 ? "failure" : "success",
        text: [words.sent(eventId, words.outcomes[outcome]), ...warnings.map(({ detail }) => detail)].join(". "),
      });
      onSent?.();
    },
  });
}
