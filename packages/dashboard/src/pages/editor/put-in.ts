import type { EditorView } from "@codemirror/view";

/** Inserts the text that completion offers, and puts the cursor before the last `back` characters of this text. */
export function putIn(view: EditorView, from: number, to: number, insert: string, back = 0): void {
  const anchor = from + insert.length - back;
  view.dispatch({ changes: { from, to, insert }, selection: { anchor }, userEvent: "input.complete" });
}
