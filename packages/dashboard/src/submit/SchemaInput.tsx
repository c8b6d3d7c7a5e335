import { type ReactNode, useId, useState } from "react";
import { Button } from "../parts/controls/Button.tsx";
import { Choice, Field, TextArea } from "../parts/controls/Field.tsx";
import { fromLocal, toLocal } from "../parts/words/local-time.ts";
import { texts } from "../texts/texts.ts";
import { type Draft, emptyDraft, isOf, jsonDraft, numberDraft, partOf, textOfDraft, token, withPart } from "./draft.ts";
import type { SchemaField } from "./schema-field.ts";
import "./SchemaInput.css";

export interface SchemaInputProps {
  readonly field: SchemaField;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  /** The place of the value in the whole value that the form asks for, as a JSON pointer. */
  readonly pointer: string;
  /** The problems, by pointer. */
  readonly problems: ReadonlyMap<string, string>;
}

export function SchemaInput(props: SchemaInputProps) {
  switch (props.field.kind) {
    case "object":
      return <ObjectInput {...props} />;
    case "list":
      return <ListInput {...props} />;
    case "boolean":
    case "choice":
      return <ChoiceInput {...props} />;
    case "union":
      return <UnionInput {...props} />;
    case "null":
      return null;
    default:
      return <TextInput {...props} />;
  }
}

function TextInput(props: SchemaInputProps) {
  const { field, draft, onChange, pointer, problems } = props;
  if (field.kind !== "text") return <ReadText {...props} />;
  // An empty optional field is left out; a required one is sent as an empty text.
  const change = (text: string) => onChange(text === "" && !field.isRequired ? undefined : text);
  const isTime = field.inputType === "datetime-local";
  return (
    <Field
      label={labelOf(field)}
      hint={field.hint}
      problem={problems.get(pointer)}
      type={field.inputType ?? "text"}
      value={typeof draft !== "string" ? "" : isTime ? toLocal(draft) : draft}
      onChange={({ target }) => (isTime ? onChange(fromLocal(target.value)) : change(target.value))}
      autoComplete="off"
      spellCheck={false}
    />
  );
}

/** A field for a number or for JSON. The text stays as it is typed, even `1.0` on the way to `1.05`. */
function ReadText({ field, draft, onChange, pointer, problems }: SchemaInputProps) {
  const [typed, setTyped] = useState(() => textOfDraft(draft));
  const isJson = field.kind === "json";
  const read = (text: string) => (isJson ? jsonDraft(text) : numberDraft(text, field.kind === "integer"));
  // When an entry of a list is removed, the next entry takes its place. Then the text is made from the draft of that entry.
  const text = textOfDraft(read(typed)) === textOfDraft(draft) ? typed : textOfDraft(draft);
  const change = (changed: string) => {
    setTyped(changed);
    onChange(read(changed));
  };
  const shared = { label: labelOf(field), hint: field.hint, problem: problems.get(pointer), value: text };
  if (isJson) return <TextArea {...shared} onChange={(event) => change(event.target.value)} spellCheck={false} />;
  return (
    <Field
      {...shared}
      inputMode={field.kind === "integer" ? "numeric" : "decimal"}
      onChange={(event) => change(event.target.value)}
      autoComplete="off"
    />
  );
}

function ChoiceInput({ field, draft, onChange, pointer, problems }: SchemaInputProps) {
  const choices = field.kind === "boolean" ? [false, true] : (field.choices ?? []);
  const index = choices.findIndex((choice) => JSON.stringify(choice) === JSON.stringify(draft));
  return (
    <Choice
      label={labelOf(field)}
      hint={field.hint}
      problem={problems.get(pointer)}
      value={index}
      onChange={(event) => onChange(choices[Number(event.target.value)])}
    >
      {(!field.isRequired || index === -1) && <option value={-1}>{noneOf(field)}</option>}
      {choices.map((choice, at) => (
        <option key={JSON.stringify(choice)} value={at}>
          {textOfChoice(choice)}
        </option>
      ))}
    </Choice>
  );
}

/** A choice between the kinds of value, with the fields of the chosen kind below it. */
function UnionInput(props: SchemaInputProps) {
  const { field, draft, onChange, pointer, problems } = props;
  const { variants = [] } = field;
  const [chosen, setChosen] = useState(-1);
  const fits = (index: number) => variants[index] !== undefined && isOf(variants[index], draft);
  // When an entry of a list is removed, the next entry takes its place. Then the kind is the one that the draft of that entry fits.
  const isKept = draft === undefined || fits(chosen);
  const index = isKept ? chosen : variants.findIndex((_, one) => fits(one));
  const variant = variants[index];
  const hasInput = variant !== undefined && variant.kind !== "null";
  const choose = (next: number) => {
    setChosen(next);
    onChange(variants[next] && emptyDraft(variants[next]));
  };
  const labels = variantLabels(variants);
  return (
    <>
      <Choice
        label={labelOf(field)}
        hint={field.hint}
        problem={hasInput ? undefined : problems.get(pointer)}
        value={index}
        onChange={(event) => choose(Number(event.target.value))}
      >
        {(!field.isRequired || index === -1) && <option value={-1}>{noneOf(field)}</option>}
        {labels.map((label, at) => (
          <option key={label} value={at}>
            {label}
          </option>
        ))}
      </Choice>
      {hasInput && (
        <SchemaInput key={index} {...props} field={{ ...variant, label: variant.label || (labels[index] ?? "") }} />
      )}
    </>
  );
}

/** Names each choice by the title of its schema, by a part that can have only one value, or by its kind. Choices with the same name get numbers. */
function variantLabels(variants: readonly SchemaField[]): readonly string[] {
  const words = texts.submit;
  const plain = variants.map(({ label, kind, choices = [], fields = [] }) => {
    const fixed = fields.find((one) => one.choices?.length === 1);
    if (label !== "") return label;
    if (fixed !== undefined) return words.fixed(fixed.name, textOfChoice(fixed.choices?.[0]));
    return kind === "choice" && choices.length === 1 ? textOfChoice(choices[0]) : words.kinds[kind];
  });
  return plain.map((label, index) =>
    plain.indexOf(label) === plain.lastIndexOf(label)
      ? label
      : words.numbered(label, plain.slice(0, index + 1).filter((one) => one === label).length),
  );
}

function textOfChoice(choice: unknown): string {
  return typeof choice === "string" ? choice : JSON.stringify(choice);
}

/** The text of the empty choice. It says either that a choice must still be made, or that none is needed. */
function noneOf({ isRequired }: SchemaField): string {
  return isRequired ? texts.submit.choose : texts.submit.notSet;
}

function ObjectInput(props: SchemaInputProps) {
  const { field, draft, onChange, pointer, problems } = props;
  const fields = (field.fields ?? []).map((one) => (
    <SchemaInput
      key={one.name}
      field={one}
      draft={partOf(draft, one.name)}
      onChange={(part) => onChange(withPart(draft, one.name, part))}
      pointer={`${pointer}/${token(one.name)}`}
      problems={problems}
    />
  ));
  if (pointer === "") return <div className="schema-fields">{fields}</div>;
  return (
    <Group {...props}>
      <div className="schema-fields">{fields}</div>
    </Group>
  );
}

function ListInput(props: SchemaInputProps) {
  const words = texts.submit;
  const { field, draft, onChange, pointer, problems } = props;
  const { item } = field;
  const entries: readonly Draft[] = Array.isArray(draft) ? draft : [];
  if (item === undefined) return null;
  return (
    <Group {...props}>
      {entries.map((entry, index) => {
        const label = words.item(field.label === "" ? words.entry : field.label, index + 1);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries have no other name
          <div key={index} className="schema-entry">
            <SchemaInput
              field={{ ...item, label }}
              draft={entry}
              onChange={(changed) => onChange(entries.with(index, changed))}
              pointer={`${pointer}/${index}`}
              problems={problems}
            />
            <Button
              kind="quiet"
              icon="cross"
              aria-label={words.remove(label)}
              onClick={() => onChange(entries.toSpliced(index, 1))}
            />
          </div>
        );
      })}
      <div>
        <Button icon="plus" onClick={() => onChange([...entries, emptyDraft(item)])}>
          {words.add(words.entry)}
        </Button>
      </div>
    </Group>
  );
}

/** A field that has its own fields. If it is optional, the user can add it and remove it. */
function Group({ field, draft, onChange, pointer, problems, children }: SchemaInputProps & { children: ReactNode }) {
  const words = texts.submit;
  const problem = problems.get(pointer);
  const isThere = draft !== undefined;
  const id = useId();
  return (
    <fieldset className="schema-group" aria-describedby={problem === undefined ? undefined : id}>
      <legend>{labelOf(field)}</legend>
      {field.hint !== undefined && <p className="field-hint">{field.hint}</p>}
      {problem !== undefined && (
        <p className="field-problem" id={id} role="alert">
          {problem}
        </p>
      )}
      {isThere && children}
      {!field.isRequired && (
        <div>
          {isThere ? (
            <Button kind="quiet" icon="cross" onClick={() => onChange(undefined)}>
              {words.remove(field.label)}
            </Button>
          ) : (
            <Button icon="plus" onClick={() => onChange(emptyDraft({ ...field, isRequired: true }))}>
              {words.add(field.label)}
            </Button>
          )}
        </div>
      )}
    </fieldset>
  );
}

function labelOf({ label, isRequired, kind }: SchemaField): string {
  const { submit } = texts;
  const name = label === "" ? submit.input : label;
  return isRequired || kind === "boolean" || kind === "choice" || kind === "union"
    ? name
    : `${name} (${submit.optional})`;
}
