import { Prec } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

/**
 * Typing over a selection. Left to the browser, it keeps the look of what was selected in a style attribute, which our content security policy refuses
 * and reports. What else stands between a key and the text, such as closing brackets, is asked as it is for any other key.
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
