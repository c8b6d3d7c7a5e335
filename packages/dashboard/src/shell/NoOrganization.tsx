import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, resultOf } from "../api/api.ts";
import { fieldProblems } from "../api/problem.ts";
import { useOnce } from "../api/use-once.ts";
import { Button } from "../parts/controls/Button.tsx";
import { Field } from "../parts/controls/Field.tsx";
import { useProblemFocus } from "../parts/controls/focus-problem.ts";
import { PageHeading } from "../parts/layout/PageHeading.tsx";
import { Problem } from "../parts/states/Problem.tsx";
import { texts } from "../texts/texts.ts";

/** The page for users who are signed in but belong to no organization yet. */
export function NoOrganization() {
  const { shell } = texts;
  const [name, setName] = useState("");
  const [key, setKey] = useState("");
  const navigate = useNavigate();
  const queries = useQueryClient();
  const once = useOnce();
  const create = useMutation({
    mutationFn: () => {
      const displayName = name.trim();
      const body = { name: displayName, displayName, ...(key !== "" && { key }) };
      return once(body, (header) => resultOf(api.POST("/organizations", { params: { header }, body })));
    },
    onSuccess: async ({ organizationId }) => {
      await queries.invalidateQueries({ queryKey: ["organizations"] });
      await navigate({ to: "/app/organizations/$organizationId", params: { organizationId } });
    },
  });
  const problems = fieldProblems(create.error, ["/name", "/key"]);
  const form = useProblemFocus(create.isPending);
  return (
    <>
      <PageHeading title={shell.noOrganizationTitle} />
      <p>{shell.noOrganization}</p>
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Field
          label={shell.newOrganizationName}
          value={name}
          onChange={(event) => setName(event.target.value)}
          problem={problems.at("/name")}
          required
          maxLength={256}
          autoComplete="organization"
        />
        <Field
          label={shell.newOrganizationKey}
          hint={shell.newOrganizationKeyHint}
          value={key}
          onChange={(event) => setKey(event.target.value)}
          problem={problems.at("/key")}
          maxLength={64}
          autoComplete="off"
          spellCheck={false}
        />
        {problems.rest !== undefined && <Problem error={problems.rest} />}
        <div>
          <Button type="submit" kind="main" isBusy={create.isPending}>
            {shell.createOrganization}
          </Button>
        </div>
      </form>
    </>
  );
}
