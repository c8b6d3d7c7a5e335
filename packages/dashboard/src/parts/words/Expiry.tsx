import { texts } from "../../texts/texts.ts";
import { Time } from "./Time.tsx";

/** The time when something ends. A word before it says if this time is past. If there is no such time, a word says so. */
export function Expiry({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return texts.expiry.never;
  if (Date.parse(at) > Date.now()) return <Time at={at} isRelative />;
  return (
    <>
      {texts.expiry.expired} <Time at={at} isRelative />
    </>
  );
}
