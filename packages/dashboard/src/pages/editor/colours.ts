import { syntaxTree } from "@codemirror/language";
import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";

/** The colours are variables of the dashboard's theme, so the editor follows the light and the dark theme. */
export const editorTheme = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--surface)", fontSize: "13px" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": {
    color: "var(--ink-soft)",
    backgroundColor: "var(--surface-sunken)",
    borderRight: "1px solid var(--line)",
  },
  ".cm-activeLine": { backgroundColor: "transparent" },
  ".cm-activeLineGutter": { color: "var(--ink)", backgroundColor: "var(--hover)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground, ::selection": {
    backgroundColor: "var(--accent-paper)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--neutral-paper)" },
  ".cm-tooltip": {
    color: "var(--ink)",
    backgroundColor: "var(--surface-raised)",
    border: "1px solid var(--line)",
    borderRadius: "var(--radius-small)",
    boxShadow: "var(--shadow-raised)",
  },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { color: "var(--on-accent)", backgroundColor: "var(--accent)" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "3px 8px" },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "0.85", marginLeft: "12px" },
  ".cm-completionInfo, .expression-meaning": { maxWidth: "60ch", padding: "6px 10px", whiteSpace: "pre-wrap" },
  ".cm-diagnostic": { maxWidth: "70ch", padding: "6px 10px", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--failure-strong)" },
  ".cm-diagnostic-warning": { borderLeft: "4px solid var(--waiting)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--failure-strong) 1.5px",
    textUnderlineOffset: "3px",
  },
  ".cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--waiting) 1.5px",
    textUnderlineOffset: "3px",
  },
  ".cm-panels": { color: "var(--ink)", backgroundColor: "var(--surface-sunken)" },
  ".cm-panel input, .cm-panel button": {
    color: "var(--ink)",
    backgroundColor: "var(--surface)",
    backgroundImage: "none",
  },
  ".cm-searchMatch": { backgroundColor: "var(--waiting-paper)" },
  ".cm-foldPlaceholder": { color: "var(--ink-soft)", backgroundColor: "var(--neutral-paper)", border: "0" },
  ".json-name": { color: "var(--ink)" },
  ".json-string": { color: "var(--success)" },
  ".json-number": { color: "var(--running)" },
  ".json-word": { color: "var(--waiting)" },
});

const marks: Readonly<Record<string, Decoration>> = {
  PropertyName: Decoration.mark({ class: "json-name" }),
  String: Decoration.mark({ class: "json-string" }),
  Number: Decoration.mark({ class: "json-number" }),
  True: Decoration.mark({ class: "json-word" }),
  False: Decoration.mark({ class: "json-word" }),
  Null: Decoration.mark({ class: "json-word" }),
};

/** Gives colours to names, strings, numbers, `true`, `false` and `null`. These are so few kinds that no package with a highlighter is needed. */
export const jsonColours = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = colour(view);
    }

    update(update: ViewUpdate): void {
      const isParsed = syntaxTree(update.startState) !== syntaxTree(update.state);
      if (update.docChanged || update.viewportChanged || isParsed) this.decorations = colour(update.view);
    }
  },
  { decorations: ({ decorations }) => decorations },
);

function colour({ state, visibleRanges }: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to } of visibleRanges) {
    syntaxTree(state).iterate({
      from,
      to,
      enter: ({ name, from: start, to: end }) => {
        const mark = marks[name];
        if (mark !== undefined) builder.add(start, end, mark);
      },
    });
  }
  return builder.finish();
}
