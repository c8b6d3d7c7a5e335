import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { accountQueryKey, confirmSecondFactor, startSecondFactor } from "../../../api/account.ts";
import { fieldProblems } from "../../../api/problem.ts";
import type { Schemas } from "../../../document.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { CopyButton } from "../../../parts/controls/CopyButton.tsx";
import { Field } from "../../../parts/controls/Field.tsx";
import { useProblemFocus } from "../../../parts/controls/focus-problem.ts";
import { Facts } from "../../../parts/data/Facts.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { texts } from "../../../texts/texts.ts";
import { QrCode } from "./QrCode.tsx";

interface SecondFactorSetupProps {
  readonly onCodes: (codes: readonly string[]) => void;
}

/** Asks for the password first, then shows the secret for the app, then asks for a code that proves that the app has the secret. */
export function SecondFactorSetup({ onCodes }: SecondFactorSetupProps) {
  const words = texts.secondFactor;
  const [password, setPassword] = useState("");
  const start = useMutation({ mutationFn: () => startSecondFactor(password) });
  const form = useProblemFocus(start.isPending);
  const problems = fieldProblems(start.error, ["/password"]);
  if (start.data !== undefined) return <Confirmation secret={start.data} onCodes={onCodes} />;
  return (
    <form
      ref={form}
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate();
      }}
    >
      <p>{words.off}</p>
      <Field
        label={words.password}
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        problem={problems.at("/password")}
        required
      />
      {problems.rest !== undefined && <Problem error={problems.rest} />}
      <div>
        <Button type="submit" kind="main" isBusy={start.isPending}>
          {words.start}
        </Button>
      </div>
    </form>
  );
}

interface ConfirmationProps extends SecondFactorSetupProps {
  readonly secret: Schemas["NewSecondFactor"];
}

function Confirmation({ secret: { secret, uri }, onCodes }: ConfirmationProps) {
  const words = texts.secondFactor;
  const [code, setCode] = useState("");
  const queries = useQueryClient();
  const confirm = useMutation({
    mutationFn: () => confirmSecondFactor(code.trim()),
    onSuccess: async ({ recoveryCodes }) => {
      onCodes(recoveryCodes);
      await queries.invalidateQueries({ queryKey: accountQueryKey });
    },
  });
  const form = useProblemFocus(confirm.isPending);
  const problems = fieldProblems(confirm.error, ["/code"]);
  return (
    <form
      ref={form}
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        confirm.mutate();
      }}
    >
      <p>{words.scan}</p>
      <QrCode text={uri} label={words.qrCode} />
      <Facts
        facts={[
          [
            words.secret,
            <span key="secret" className="row">
              <code>{secret}</code>
              <CopyButton text={secret} label={words.copySecret} isIconOnly />
            </span>,
          ],
        ]}
      />
      <p>
        <a href={uri}>{words.openLink}</a>
        <br />
        <code>{uri}</code>
      </p>
      <Field
        label={words.code}
        hint={words.codeHint}
        inputMode="numeric"
        autoComplete="one-time-code"
        value={code}
        onChange={(event) => setCode(event.target.value)}
        problem={problems.at("/code")}
        required
      />
      {problems.rest !== undefined && <Problem error={problems.rest} />}
      <div>
        <Button type="submit" kind="main" isBusy={confirm.isPending}>
          {words.confirm}
        </Button>
      </div>
    </form>
  );
}
