import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { fieldProblems } from "../../../api/problem.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { useProblemFocus } from "../../../parts/controls/focus-problem.ts";
import { Dialog } from "../../../parts/dialogs/Dialog.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { texts } from "../../../texts/texts.ts";
import { emptyProof, ProofFields, proofPointers, type TypedProof } from "./ProofFields.tsx";

interface ProofDialogProps<Result> {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly isDanger?: boolean;
  readonly act: (proof: TypedProof) => Promise<Result>;
  readonly onDone: (result: Result) => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for the password and the code before an action that only the account's owner may take. */
export function ProofDialog<Result>(props: ProofDialogProps<Result>) {
  const { title, text, action, isDanger = false, act, onDone, onClose } = props;
  const [proof, setProof] = useState(emptyProof);
  const prove = useMutation({
    mutationFn: () => act({ password: proof.password, code: proof.code.trim() }),
    onSuccess: onDone,
  });
  const problems = fieldProblems(prove.error, proofPointers(true));
  const form = useProblemFocus(prove.isPending);
  return (
    <Dialog isOpen onClose={onClose} title={title} description={text} isBusy={prove.isPending}>
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          prove.mutate();
        }}
      >
        <ProofFields proof={proof} onChange={setProof} problems={problems} asksCode />
        {problems.rest !== undefined && <Problem error={problems.rest} />}
        <div className="dialog-actions">
          <Button onClick={onClose} disabled={prove.isPending}>
            {texts.parts.cancel}
          </Button>
          <Button type="submit" kind={isDanger ? "danger" : "main"} isBusy={prove.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
