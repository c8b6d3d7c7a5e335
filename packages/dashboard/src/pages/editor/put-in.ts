import type { EditorView } from "@codemirror/view";

/** Puts in what completion offers. The cursor then stands so many characters (`back`) before its end. */
export function putIn(view: EditorView, from: number, to: number, insert: string, back = 0): void {
  const anchor = from + insert.length - back;
  view.dispatch({ changes: { from, to, insert }, selection: { anchor }, userEvent: "input.complete" });
}
