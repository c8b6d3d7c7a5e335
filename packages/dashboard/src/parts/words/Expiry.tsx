import { texts } from "../../texts/texts.ts";
import { Time } from "./Time.tsx";

/** The time when something ends, or words if it never ends or has already ended. */
export function Expiry({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return texts.expiry.never;
  if (Date.parse(at) > Date.now()) return <Time at={at} isRelative />;
  return (
    <>
      {texts.expiry.expired} <Time at={at} isRelative />
    </>
  );
}
