import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { type RefObject, useEffect, useImperativeHandle, useRef } from "react";
import "./DefinitionEditor.css";
import { texts } from "../../texts/texts.ts";
import type { Checked, Remark } from "./checked.ts";
import { editorTheme, jsonColours } from "./colours.ts";
import { completeDefinition, type Offer } from "./completion.ts";
import { expressionHover } from "./expression-hover.ts";
import { type Node, type Place, pathOf, placeOf, placeOfRemark, treeOf } from "./json-tree.ts";
import { typingOver } from "./typing-over.ts";

export interface EditorHandle {
  /** Puts the cursor where a JSON pointer leads. */
  goTo(pointer: string): void;
  /** Puts the cursor at the place that a remark marks. */
  goToRemark(remark: Remark): void;
}

interface DefinitionEditorProps {
  readonly initialText: string;
  readonly checked: Checked;
  /** The executors and functions that completion offers. */
  readonly offer: Offer;
  readonly onChange: (text: string) => void;
  /** Called with the index of the step that the cursor is in; undefined outside of the steps. */
  readonly onStep: (index: number | undefined) => void;
  readonly handle: RefObject<EditorHandle | null>;
}

/**
 * The definition as text. It is in a shadow tree, where the editor uses constructed style sheets. In the page itself, the editor would use a style
 * element, which the content security policy refuses.
 */
export function DefinitionEditor({ initialText, checked, offer, onChange, onStep, handle }: DefinitionEditorProps) {
  const { remarks, text: checkedText } = checked;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef({ offer, onChange, onStep });
  latest.current = { offer, onChange, onStep };

  // biome-ignore lint/correctness/useExhaustiveDependencies: a later `initialText` is ignored
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
    if (current === undefined) return;
    const placeIn = placesIn(current.state, checkedText);
    current.dispatch(setDiagnostics(current.state, diagnosticsOf(remarks, placeIn)));
  }, [remarks, checkedText]);

  useImperativeHandle(handle, () => {
    const goTo = (placeIn: (state: EditorState) => Place) => {
      const { current } = view;
      if (current === undefined) return;
      const { from } = placeIn(current.state);
      current.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      current.focus();
    };
    return {
      goTo: (pointer) => goTo((state) => placeOf(state, pointer)),
      goToRemark: (remark) => goTo((state) => placesIn(state, checkedText)(remark)),
    };
  });

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
  // None of these lists has the Tab key, so that people who use only a keyboard can leave the editor.
  keymap.of([
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...lintKeymap,
    ...searchKeymap,
    ...foldKeymap,
    ...historyKeymap,
    ...defaultKeymap,
  ]),
  typingOver,
  editorTheme,
  jsonColours,
];

type Latest = RefObject<Pick<DefinitionEditorProps, "offer" | "onChange" | "onStep">>;

function complete(latest: Latest): Extension {
  return [
    autocompletion({ override: [completeDefinition(() => latest.current.offer)], icons: false }),
    expressionHover(() => latest.current.offer),
  ];
}

function listen(latest: Latest): Extension {
  return EditorView.updateListener.of(({ docChanged, selectionSet, state }) => {
    if (docChanged) latest.current.onChange(state.doc.toString());
    if (docChanged || selectionSet) latest.current.onStep(stepAt(state));
  });
}

function stepAt(state: EditorState): number | undefined {
  const node: Node = treeOf(state).resolveInner(state.selection.main.head, 0);
  const [first, second] = pathOf(state, node);
  return first === "steps" && typeof second === "number" ? second : undefined;
}

/**
 * Finds the places of remarks. If the text was changed after its check, a pointer still leads to the right place more often than a line and a column.
 */
function placesIn(state: EditorState, checkedText: string): (remark: Remark) => Place {
  const isCurrent = state.toText(checkedText).eq(state.doc);
  return (remark) =>
    isCurrent || remark.pointer === "" ? placeOfRemark(state, remark) : placeOf(state, remark.pointer);
}

function diagnosticsOf(remarks: readonly Remark[], placeIn: (remark: Remark) => Place): Diagnostic[] {
  return remarks
    .map((remark) => ({ ...placeIn(remark), severity: remark.severity, message: remark.detail }))
    .sort((one, other) => one.from - other.from);
}
