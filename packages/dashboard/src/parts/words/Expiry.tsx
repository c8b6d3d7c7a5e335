import { texts } from "../../texts/texts.ts";
import { Time } from "./Time.tsx";

/** The time when something ends. If the time is past, or if there is no such time, a word says so. */
export function Expiry({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return texts.expiry.never;
  if (Date.parse(at) > Date.now()) return <Time at={at} isRelative />;
  return (
    <>
      {texts.expiry.expired} <Time at={at} isRelative />
    </>
  );
}
