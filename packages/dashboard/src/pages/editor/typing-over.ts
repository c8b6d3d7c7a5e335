import { Prec } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

/**
 * Handles typing over a selection. The browser itself would keep the look of the selected text in a style attribute, which the content security
 * policy refuses and reports. Other handlers of keys, such as the one that closes brackets, are still asked first.
 */
export const typingOver = Prec.highest(
  EditorView.domEventHandlers({
    beforeinput: (event, view) => {
      const { data, inputType, isComposing } = event;
      const { from, to, empty } = view.state.selection.main;
      if (inputType !== "insertText" || data === null || isComposing || empty) return false;
      const insert = () =>
        view.state.update(view.state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
      const isTaken = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert));
      if (!isTaken) view.dispatch(insert());
      return true;
    },
  }),
);
