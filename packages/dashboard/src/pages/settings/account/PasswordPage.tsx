import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { flushSync } from "react-dom";
import { type Account, accountQueryKey, changePassword } from "../../../api/account.ts";
import { fieldProblems } from "../../../api/problem.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { CheckBox } from "../../../parts/controls/CheckBox.tsx";
import { Field } from "../../../parts/controls/Field.tsx";
import { focusProblem, useProblemFocus } from "../../../parts/controls/focus-problem.ts";
import { Problem } from "../../../parts/states/Problem.tsx";
import { toast } from "../../../parts/toasts.ts";
import { texts } from "../../../texts/texts.ts";
import { WithAccount } from "./WithAccount.tsx";

export function PasswordPage() {
  const words = texts.account;
  return (
    <WithAccount title={words.password}>
      {(account) => (account.hasPassword ? <Password account={account} /> : <p>{words.noPassword}</p>)}
    </WithAccount>
  );
}

const blank = { current: "", next: "", again: "", code: "" };

function Password({ account }: { readonly account: Account }) {
  const words = texts.account;
  const [typed, setTyped] = useState(blank);
  const [keepUserTokens, setKeepUserTokens] = useState(false);
  const [isDifferent, setDifferent] = useState(false);
  const hasSecondFactor = account.secondFactorEnabledAt !== undefined;
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: () =>
      changePassword({
        currentPassword: typed.current,
        newPassword: typed.next,
        keepUserTokens,
        ...(hasSecondFactor && { code: typed.code.trim() }),
      }),
    onSuccess: async () => {
      setTyped(blank);
      toast({ kind: "success", text: keepUserTokens ? words.passwordChanged : words.passwordAndTokensChanged });
      await queries.invalidateQueries({ queryKey: accountQueryKey });
    },
    // A second factor may have been set up elsewhere while the form was open. When the account is read again, the form asks for the code.
    onError: () => queries.invalidateQueries({ queryKey: accountQueryKey }),
  });
  const shown = ["/currentPassword", "/newPassword", ...(hasSecondFactor ? ["/code"] : [])];
  const problems = fieldProblems(change.error, shown);
  const bound = (name: keyof typeof blank) => ({
    value: typed[name],
    onChange: (event: { readonly target: { readonly value: string } }) =>
      setTyped({ ...typed, [name]: event.target.value }),
    required: true,
  });
  const form = useProblemFocus(change.isPending);
  return (
    <form
      ref={form}
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        flushSync(() => setDifferent(typed.next !== typed.again));
        if (typed.next === typed.again) change.mutate();
        else focusProblem(form.current);
      }}
    >
      {/* Password managers read from this field which account the password belongs to. */}
      <input type="text" className="visually-hidden" autoComplete="username" value={account.email} readOnly hidden />
      <Field
        label={words.currentPassword}
        type="password"
        autoComplete="current-password"
        problem={problems.at("/currentPassword")}
        {...bound("current")}
      />
      {hasSecondFactor && (
        <Field
          label={words.code}
          hint={words.codeHint}
          autoComplete="one-time-code"
          problem={problems.at("/code")}
          {...bound("code")}
        />
      )}
      <Field
        label={words.newPassword}
        hint={words.newPasswordHint}
        type="password"
        autoComplete="new-password"
        problem={problems.at("/newPassword")}
        {...bound("next")}
      />
      <Field
        label={words.repeatPassword}
        type="password"
        autoComplete="new-password"
        problem={isDifferent && typed.next !== typed.again ? words.notTheSame : undefined}
        {...bound("again")}
      />
      <CheckBox
        label={words.keepUserTokens}
        hint={words.keepUserTokensHint}
        checked={keepUserTokens}
        onChange={(event) => setKeepUserTokens(event.target.checked)}
      />
      {problems.rest !== undefined && <Problem error={problems.rest} />}
      <div>
        <Button type="submit" kind="main" isBusy={change.isPending}>
          {words.changePassword}
        </Button>
      </div>
    </form>
  );
}
