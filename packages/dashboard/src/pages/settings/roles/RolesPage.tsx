import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { usePermission } from "../../../api/permissions.ts";
import { type Role, rolesQuery } from "../../../api/roles.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { type Column, Table } from "../../../parts/data/Table.tsx";
import { Panel } from "../../../parts/layout/Panel.tsx";
import { Permitted } from "../../../parts/states/Permitted.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { Skeleton } from "../../../parts/states/Skeleton.tsx";
import { texts } from "../../../texts/texts.ts";
import { DeleteRole } from "./DeleteRole.tsx";
import { RoleDialog } from "./RoleDialog.tsx";
import { ShownRole } from "./ShownRole.tsx";

/** The built-in roles and the organization's own, with their permissions. */
export function RolesPage() {
  const { organizationId } = useParams({ from: "/app/organizations/$organizationId" });
  return (
    <Permitted organizationId={organizationId} permission="role:read" title={texts.roles.title}>
      <Roles organizationId={organizationId} />
    </Permitted>
  );
}

type Opened = { readonly act: "create" } | { readonly act: "show" | "change" | "delete"; readonly role: Role };

function Roles({ organizationId }: { readonly organizationId: string }) {
  const words = texts.roles;
  const { data: roles, error, refetch } = useQuery(rolesQuery(organizationId));
  const mayCreate = usePermission(organizationId, "role:create");
  const mayChange = usePermission(organizationId, "role:update");
  const mayDelete = usePermission(organizationId, "role:delete");
  const [opened, setOpened] = useState<Opened | undefined>();
  const shown = { organizationId, onClose: () => setOpened(undefined) };
  const create = (
    <Button icon="plus" onClick={() => setOpened({ act: "create" })}>
      {words.create}
    </Button>
  );
  return (
    <Panel title={words.title} isFlush actions={mayCreate && create}>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {roles === undefined && error === null && <Skeleton rows={5} />}
      {roles !== undefined && (
        <Table
          caption={words.caption}
          columns={columnsFor({ mayChange, mayDelete }, setOpened)}
          rows={roles}
          rowKey={({ roleId }) => roleId}
          foldLines={2}
        />
      )}
      {opened?.act === "create" && <RoleDialog {...shown} />}
      {opened?.act === "change" && <RoleDialog {...shown} role={opened.role} />}
      {opened?.act === "show" && <ShownRole role={opened.role} onClose={shown.onClose} />}
      {opened?.act === "delete" && <DeleteRole {...shown} role={opened.role} />}
    </Panel>
  );
}

interface Allowed {
  readonly mayChange: boolean;
  readonly mayDelete: boolean;
}

function columnsFor(allowed: Allowed, open: (opened: Opened) => void): readonly Column<Role>[] {
  const words = texts.roles;
  return [
    { id: "name", header: words.name, cell: ({ name }) => <strong title={name}>{name}</strong> },
    {
      id: "description",
      header: words.description,
      width: "36%",
      isOptional: true,
      isSelfEvident: true,
      isLong: true,
      cell: ({ description }) => <span title={description}>{description}</span>,
    },
    { id: "kind", header: words.kind, width: "80px", cell: ({ isBuiltIn }) => (isBuiltIn ? words.builtIn : words.own) },
    {
      id: "permissions",
      header: words.permissions,
      width: "110px",
      isOptional: true,
      cell: ({ permissions }) => permissions.length,
    },
    {
      id: "actions",
      header: texts.settings.actions,
      align: "end",
      width: "136px",
      cell: (role) => <Actions role={role} allowed={allowed} open={open} />,
    },
  ];
}

interface ActionsProps {
  readonly role: Role;
  readonly allowed: Allowed;
  readonly open: (opened: Opened) => void;
}

/** The buttons of a role. A built-in role is the same everywhere, so it can only be viewed. */
function Actions({ role, allowed: { mayChange, mayDelete }, open }: ActionsProps) {
  const words = texts.roles;
  const isChangeable = mayChange && !role.isBuiltIn;
  return (
    <>
      <Button
        kind="quiet"
        aria-label={isChangeable ? words.changeNamed(role.name) : words.showNamed(role.name)}
        onClick={() => open({ act: isChangeable ? "change" : "show", role })}
      >
        {isChangeable ? words.change : words.show}
      </Button>
      {mayDelete && !role.isBuiltIn && (
        <Button kind="quiet" icon="cross" onClick={() => open({ act: "delete", role })}>
          <span className="visually-hidden">{words.removeNamed(role.name)}</span>
        </Button>
      )}
    </>
  );
}
