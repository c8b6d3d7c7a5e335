import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { fieldProblems } from "../../../api/problem.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { Field } from "../../../parts/controls/Field.tsx";
import { Dialog } from "../../../parts/dialogs/Dialog.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { texts } from "../../../texts/texts.ts";

interface ProofDialogProps<Result> {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly isDanger?: boolean;
  readonly act: (proof: { readonly password: string; readonly code: string }) => Promise<Result>;
  readonly onDone: (result: Result) => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for password and code before something that only the account's owner may do. */
export function ProofDialog<Result>(props: ProofDialogProps<Result>) {
  const { title, text, action, isDanger = false, act, onDone, onClose } = props;
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const prove = useMutation({ mutationFn: () => act({ password, code: code.trim() }), onSuccess: onDone });
  const problems = fieldProblems(prove.error, ["/password", "/code"]);
  return (
    <Dialog isOpen onClose={onClose} title={title} description={text}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          prove.mutate();
        }}
      >
        <Field
          label={texts.secondFactor.password}
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
          problem={problems.at("/password")}
          required
        />
        <Field
          label={texts.account.code}
          hint={texts.account.codeHint}
          autoComplete="one-time-code"
          value={code}
          onChange={(event) => setCode(event.target.value)}
          problem={problems.at("/code")}
          required
        />
        {problems.rest !== undefined && <Problem error={problems.rest} />}
        <div className="dialog-actions">
          <Button onClick={onClose}>{texts.parts.cancel}</Button>
          <Button type="submit" kind={isDanger ? "danger" : "main"} isBusy={prove.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
