import { useBlocker } from "@tanstack/react-router";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { useExecutors } from "../../api/executors.ts";
import { useExpressionFunctions } from "../../api/expression-functions.ts";
import type { WorkflowKey } from "../../api/workflows.ts";
import { type GraphStep, stepNamesOfText, stepsOfText } from "../../graph/graph-step.ts";
import { StepGraph } from "../../graph/StepGraph.tsx";
import { Button } from "../../parts/controls/Button.tsx";
import { Dialog } from "../../parts/dialogs/Dialog.tsx";
import { PageHeading } from "../../parts/layout/PageHeading.tsx";
import { Panel } from "../../parts/layout/Panel.tsx";
import { texts } from "../../texts/texts.ts";
import "./Editing.css";
import { useChecked } from "./checked.ts";
import { DefinitionEditor, type EditorHandle } from "./DefinitionEditor.tsx";
import { Register } from "./Register.tsx";
import { Remarks } from "./Remarks.tsx";

interface EditingProps {
  readonly workflow: WorkflowKey;
  readonly name: string;
  /** The number of the version with which the text began. */
  readonly baseNumber: number | undefined;
  readonly initialText: string;
}

/** The text, its graph beside it, and the problems that the service finds. */
export function Editing({ workflow, name, baseNumber, initialText }: EditingProps) {
  const words = texts.editor;
  const [text, setText] = useState(initialText);
  const [saved, setSaved] = useState(initialText);
  const [stepIndex, setStepIndex] = useState<number | undefined>();
  const editor = useRef<EditorHandle>(null);
  const checked = useChecked(workflow, text);
  const offer = { executors: useExecutors(), functions: useExpressionFunctions() };
  const { steps, names, isOld } = useDrawnSteps(text);
  const current = stepIndex === undefined ? undefined : names[stepIndex];
  const isChanged = text !== saved;
  const select = (step: string) => {
    const index = names.indexOf(step);
    editor.current?.goTo(`/steps/${index}/name`);
  };
  return (
    <>
      <PageHeading
        title={words.title(name)}
        docs="editor"
        tab={[isChanged ? words.unsaved : undefined, words.title(name)]}
        beside={
          <span className="soft">
            {baseNumber === undefined ? words.fromNothing : words.newer(baseNumber)}
            {isChanged && `, ${words.unsaved}`}
          </span>
        }
        actions={<Register workflow={workflow} name={name} text={text} checked={checked} onRegistered={setSaved} />}
      />
      <div className="editing">
        <Panel title={words.definition} isFlush>
          <div className="editing-text">
            <DefinitionEditor
              initialText={initialText}
              checked={checked}
              offer={offer}
              onChange={setText}
              onStep={setStepIndex}
              handle={editor}
            />
          </div>
        </Panel>
        <Panel title={words.graph} isFlush beside={isOld && <span className="soft">{words.graphOld}</span>}>
          <StepGraph steps={steps} current={current} selected={current} onSelect={select} />
        </Panel>
      </div>
      <Remarks checked={checked} onGoTo={(remark) => editor.current?.goToRemark(remark)} />
      <LeaveQuestion isChanged={isChanged} />
    </>
  );
}

interface DrawnSteps {
  readonly steps: readonly GraphStep[];
  /** The names of the definition's steps, by index. `steps` leaves out steps without a name, and steps with the name of an earlier step. */
  readonly names: readonly (string | undefined)[];
}

/** While the text is not JSON, as in the middle of a word, the graph does not change. */
function useDrawnSteps(text: string): DrawnSteps & { readonly isOld: boolean } {
  const deferred = useDeferredValue(text);
  const last = useRef<DrawnSteps>({ steps: [], names: [] });
  const drawn = useMemo(() => {
    const steps = stepsOfText(deferred);
    const names = stepNamesOfText(deferred);
    return steps === undefined || names === undefined ? undefined : { steps, names };
  }, [deferred]);
  if (drawn !== undefined) last.current = drawn;
  return { ...last.current, isOld: drawn === undefined };
}

function LeaveQuestion({ isChanged }: { readonly isChanged: boolean }) {
  const words = texts.editor;
  const { proceed, reset, status } = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: isChanged,
    withResolver: true,
  });
  return (
    <Dialog
      isOpen={status === "blocked"}
      onClose={() => reset?.()}
      title={words.leaveTitle}
      description={words.leaveText}
    >
      <div className="dialog-actions">
        <Button onClick={() => reset?.()}>{words.stay}</Button>
        <Button kind="danger" onClick={() => proceed?.()}>
          {words.leave}
        </Button>
      </div>
    </Dialog>
  );
}
