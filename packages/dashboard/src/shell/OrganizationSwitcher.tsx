import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { organizationsQuery } from "../api/organizations.ts";
import { Button } from "../parts/controls/Button.tsx";
import { Menu } from "../parts/controls/Menu.tsx";
import { Icon } from "../parts/layout/Icon.tsx";
import { texts } from "../texts/texts.ts";
import { rememberOrganization } from "./last-organization.ts";
import "./OrganizationSwitcher.css";

export function OrganizationSwitcher({ organizationId }: { readonly organizationId: string | undefined }) {
  const { data: organizations = [] } = useQuery(organizationsQuery);
  const navigate = useNavigate();
  const current = organizations.find((one) => one.organizationId === organizationId);
  useEffect(() => {
    if (current !== undefined) rememberOrganization(current.organizationId);
  }, [current]);
  if (organizationId !== undefined && current === undefined) return <span className="organization-switcher" />;
  const name = current?.displayName ?? texts.shell.organization;
  return (
    <Menu
      align="start"
      trigger={
        <Button kind="quiet" className="organization-switcher">
          <span className="visually-hidden">{texts.shell.organization}: </span>
          <span className="organization-name">{name}</span>
          <Icon name="chevron" />
        </Button>
      }
      entries={[
        {
          kind: "choices",
          label: texts.shell.organization,
          value: organizationId,
          choices: organizations.map(({ organizationId, displayName, key }) => [
            organizationId,
            texts.shell.organizationChoice(displayName, key),
          ]),
          onChoose: (chosen) =>
            void navigate({ to: "/app/organizations/$organizationId", params: { organizationId: chosen } }),
        },
      ]}
    />
  );
}
