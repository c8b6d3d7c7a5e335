import type { Answer } from "@stepwell/testing/client.ts";
import type { Attack } from "./adversary-attacks.ts";
import type { Pair } from "./adversary-things.ts";
import type { MatrixCaller, World } from "./authorization-rows.ts";

/** One attack by one caller. */
export interface Cell {
  readonly attack: Attack;
  readonly caller: MatrixCaller;
  /** The caller's own ids beside those under attack. An action may use them up, so each of the two requests has its own. */
  readonly ids: Readonly<Record<keyof Pair, World["ids"]>>;
}

/** Returns everything that a caller can see of an answer, with a mark for each value that the request named. */
export function seenIn({ attack, ids }: Cell, { status, headers, body }: Answer<string>, side: keyof Pair): string {
  const requestId = headers.get("x-request-id") ?? "";
  const shown = [...headers].filter(([name]) => !unlike.has(name)).sort();
  let text = JSON.stringify([status, shown, body]).replaceAll(requestId, "(request)");
  // Masks how much of a limit or maximum the caller has left.
  text = text.replace(/;r=\d+/g, ";r=(left)");
  attack.pairs.forEach((pair, index) => {
    text = text.replaceAll(pair[side], `(value ${index})`);
  });
  for (const [name, id] of Object.entries(ids[side])) {
    if (typeof id === "string" && id.length > 8) text = text.replaceAll(id, `(own ${name})`);
  }
  return status < 300 ? withoutWhatIsNew(text) : text;
}

/** Headers with the time or the id of the request, which differ between any two answers. */
const unlike = new Set(["date", "x-request-id", "x-amzn-requestid"]);

function withoutWhatIsNew(text: string): string {
  return (
    text
      .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "(id)")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "(time)")
      .replace(/\bst[a-z]_[\w-]{4,}/g, "(secret)")
      .replace(/\["content-length","\d+"\],/, "")
      // The hash of a thing that the caller has just changed is masked, since it includes the caller's own name for the thing.
      .replace(/\["etag","[^,\]]*"\]/, "(etag)")
      .replace(/\\"versionNumber\\":\d+/g, "(number)")
      .replace(/\\"submittedByUser\\":\\"[^"]*"/, "(name)")
      .replace(/\\"key\\":\\"organization-[^"]*"/g, "(key of a new organization)")
      .replace(/(?<=-)[0-9a-f]{8}\b/g, "(ending)")
  );
}
