import { Fragment } from "react";

/** A sentence of the service, in which names are between backticks. */
export function Quoted({ text }: { readonly text: string }) {
  return text.split("`").map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name
    index % 2 === 1 ? <code key={index}>{part}</code> : <Fragment key={index}>{part}</Fragment>,
  );
}
