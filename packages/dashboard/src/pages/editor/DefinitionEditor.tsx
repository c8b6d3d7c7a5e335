import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, syntaxTree } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { type RefObject, useEffect, useImperativeHandle, useRef } from "react";
import "./DefinitionEditor.css";
import type { Executor } from "../../api/executors.ts";
import { texts } from "../../texts/texts.ts";
import type { Remark } from "./checked.ts";
import { editorTheme, jsonColours } from "./colours.ts";
import { completeDefinition } from "./completion.ts";
import { type Node, pathOf, placeOf } from "./json-tree.ts";

export interface EditorHandle {
  /** Puts the cursor where a JSON pointer leads. */
  goTo(pointer: string): void;
}

interface DefinitionEditorProps {
  readonly initialText: string;
  readonly remarks: readonly Remark[];
  /** For completion. */
  readonly executors: readonly Executor[];
  readonly onChange: (text: string) => void;
  /** The index of the step that the cursor is in. */
  readonly onStep: (index: number | undefined) => void;
  readonly handle: RefObject<EditorHandle | null>;
}

/**
 * The definition as text. It lives in a shadow tree: there the editor's styles are constructed style sheets, where in the page itself they would
 * be a style element, which our content security policy refuses.
 */
export function DefinitionEditor({ initialText, remarks, executors, onChange, onStep, handle }: DefinitionEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef({ executors, onChange, onStep });
  latest.current = { executors, onChange, onStep };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the text it begins with is that of its first moment
  useEffect(() => {
    const host = place.current;
    if (host === null) return;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const made = new EditorView({
      state: EditorState.create({ doc: initialText, extensions: [...extensions, complete(latest), listen(latest)] }),
      parent: root,
      root,
    });
    view.current = made;
    return () => made.destroy();
  }, []);

  useEffect(() => {
    const { current } = view;
    if (current !== undefined) current.dispatch(setDiagnostics(current.state, diagnosticsOf(current.state, remarks)));
  }, [remarks]);

  useImperativeHandle(handle, () => ({
    goTo(pointer) {
      const { current } = view;
      if (current === undefined) return;
      const { from } = placeOf(current.state, pointer);
      current.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      current.focus();
    },
  }));

  return <div ref={place} className="definition-editor" />;
}

const extensions: Extension[] = [
  json(),
  lineNumbers(),
  foldGutter(),
  lintGutter(),
  history(),
  drawSelection(),
  highlightActiveLineGutter(),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  highlightSelectionMatches(),
  search({ top: true }),
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({
    "aria-label": texts.editor.definition,
    "aria-description": texts.editor.keys,
    spellcheck: "false",
    tabindex: "0",
  }),
  // No key of its own for Tab: whoever has only a keyboard must come out again.
  keymap.of([
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...lintKeymap,
    ...searchKeymap,
    ...foldKeymap,
    ...historyKeymap,
    ...defaultKeymap,
  ]),
  editorTheme,
  jsonColours,
];

type Latest = RefObject<Pick<DefinitionEditorProps, "executors" | "onChange" | "onStep">>;

function complete(latest: Latest): Extension {
  return autocompletion({ override: [completeDefinition(() => latest.current.executors)], icons: false });
}

function listen(latest: Latest): Extension {
  return EditorView.updateListener.of(({ docChanged, selectionSet, state }) => {
    if (docChanged) latest.current.onChange(state.doc.toString());
    if (docChanged || selectionSet) latest.current.onStep(stepAt(state));
  });
}

function stepAt(state: EditorState): number | undefined {
  const node: Node = syntaxTree(state).resolveInner(state.selection.main.head, 0);
  const [first, second] = pathOf(state, node);
  return first === "steps" && typeof second === "number" ? second : undefined;
}

function diagnosticsOf(state: EditorState, remarks: readonly Remark[]): Diagnostic[] {
  return remarks
    .map(({ pointer, detail, severity }) => ({ ...placeOf(state, pointer), severity, message: detail }))
    .sort((one, other) => one.from - other.from);
}
