import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Account, accountQuery, updateAccount } from "../../../api/account.ts";
import { fieldProblems } from "../../../api/problem.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { Field } from "../../../parts/controls/Field.tsx";
import { useProblemFocus } from "../../../parts/controls/focus-problem.ts";
import { Facts } from "../../../parts/data/Facts.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { toast } from "../../../parts/toasts.ts";
import { Time } from "../../../parts/words/Time.tsx";
import { texts } from "../../../texts/texts.ts";
import { WithAccount } from "./WithAccount.tsx";

export function ProfilePage() {
  return <WithAccount title={texts.account.profile}>{(account) => <Profile account={account} />}</WithAccount>;
}

function Profile({ account }: { readonly account: Account }) {
  const words = texts.account;
  const [name, setName] = useState(account.displayName);
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: () => updateAccount(name.trim()),
    onSuccess: async (changed) => {
      queries.setQueryData(accountQuery.queryKey, changed);
      toast({ kind: "success", text: words.saved });
      await queries.invalidateQueries({ queryKey: ["organizations"] });
    },
  });
  const problems = fieldProblems(save.error, ["/displayName"]);
  const form = useProblemFocus(save.isPending);
  return (
    <>
      <Facts
        facts={[
          [words.email, account.email],
          [words.userId, <code key="id">{account.userId}</code>],
          [words.since, <Time key="since" at={account.createdAt} />],
        ]}
      />
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Field
          label={words.displayName}
          value={name}
          onChange={(event) => setName(event.target.value)}
          problem={problems.at("/displayName")}
          required
          maxLength={256}
          autoComplete="name"
        />
        {problems.rest !== undefined && <Problem error={problems.rest} />}
        <div>
          <Button type="submit" kind="main" isBusy={save.isPending}>
            {words.save}
          </Button>
        </div>
      </form>
    </>
  );
}
