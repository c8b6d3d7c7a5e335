import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, resultOf } from "../api/api.ts";
import { useOnce } from "../api/use-once.ts";
import { Button } from "../parts/controls/Button.tsx";
import { Field } from "../parts/controls/Field.tsx";
import { PageHeading } from "../parts/layout/PageHeading.tsx";
import { Problem } from "../parts/states/Problem.tsx";
import { texts } from "../texts/texts.ts";

/** For whoever was let in, but not yet anywhere. */
export function NoOrganization() {
  const { shell } = texts;
  const [name, setName] = useState("");
  const navigate = useNavigate();
  const queries = useQueryClient();
  const once = useOnce();
  const create = useMutation({
    mutationFn: (displayName: string) =>
      once(displayName, (header) =>
        resultOf(api.POST("/organizations", { params: { header }, body: { name: displayName, displayName } })),
      ),
    onSuccess: async ({ organizationId }) => {
      await queries.invalidateQueries({ queryKey: ["organizations"] });
      await navigate({ to: "/app/organizations/$organizationId", params: { organizationId } });
    },
  });
  return (
    <>
      <PageHeading title={shell.noOrganizationTitle} />
      <p>{shell.noOrganization}</p>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate(name.trim());
        }}
      >
        <Field
          label={shell.newOrganizationName}
          value={name}
          onChange={(event) => setName(event.target.value)}
          required
          maxLength={256}
          autoComplete="organization"
        />
        {create.error !== null && <Problem error={create.error} />}
        <div>
          <Button type="submit" kind="main" isBusy={create.isPending}>
            {shell.createOrganization}
          </Button>
        </div>
      </form>
    </>
  );
}
