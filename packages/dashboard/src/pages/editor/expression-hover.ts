import type { EditorState, Extension } from "@codemirror/state";
import { hoverTooltip } from "@codemirror/view";
import { texts } from "../../texts/texts.ts";
import type { Offer } from "./completion.ts";
import { expressionAt } from "./expression-place.ts";
import { rootWords } from "./expression-words.ts";

/** Shows the meaning of a function or a name in an expression when the reader points at it. */
export function expressionHover(offer: () => Offer): Extension {
  return hoverTooltip(({ state }, position) => {
    const found = meaningAt(state, position, offer());
    if (found === undefined) return null;
    const { from, to, text } = found;
    return {
      pos: from,
      end: to,
      above: true,
      create: () => {
        const dom = document.createElement("div");
        dom.className = "expression-meaning";
        dom.textContent = text;
        return { dom };
      },
    };
  });
}

/** Returns the meaning of the word at this position, and the place of the word. */
export function meaningAt(
  state: EditorState,
  position: number,
  { executors, functions }: Offer,
): { readonly from: number; readonly to: number; readonly text: string } | undefined {
  const word = state.wordAt(position);
  const place = word === null ? undefined : expressionAt(state, word.to, executors);
  if (word === null || place === undefined || place.stringStart !== undefined) return undefined;
  const { from, to } = word;
  const path = /[\w.]*$/.exec(place.before)?.[0] ?? "";
  const name = state.sliceDoc(from, to);
  if (/^\s*\(/.test(state.sliceDoc(to, to + 20))) {
    const called = functions.find((one) => one.name === path) ?? functions.find((one) => one.name === name);
    if (called === undefined) return undefined;
    const { signature, summary, example } = called;
    const shown = texts.editor.example(example.expression, JSON.stringify(example.value));
    return { from, to, text: [signature, summary, shown].join("\n\n") };
  }
  const root = path === name ? rootWords(place.part).find(({ text }) => text === name) : undefined;
  return root?.info === undefined ? undefined : { from, to, text: root.info };
}
