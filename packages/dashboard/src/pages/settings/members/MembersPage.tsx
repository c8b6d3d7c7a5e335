import { useInfiniteQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { type Member, membersQuery } from "../../../api/members.ts";
import { usePermission } from "../../../api/permissions.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { ListPanel } from "../../../parts/data/ListPanel.tsx";
import type { Column } from "../../../parts/data/Table.tsx";
import { EmptyState } from "../../../parts/states/EmptyState.tsx";
import { Permitted } from "../../../parts/states/Permitted.tsx";
import { Time } from "../../../parts/words/Time.tsx";
import { useUser } from "../../../session/use-session.ts";
import { texts } from "../../../texts/texts.ts";
import { ChangeRoles } from "./ChangeRoles.tsx";
import { LeaveOrganization } from "./LeaveOrganization.tsx";
import { PasswordLink } from "./PasswordLink.tsx";
import { RemoveMember } from "./RemoveMember.tsx";
import { SecondFactorDemand } from "./SecondFactorDemand.tsx";

/** The members of the organization and their roles. Everybody can leave, even without the permission to see the other members. */
export function MembersPage() {
  const { organizationId } = useParams({ from: "/app/organizations/$organizationId" });
  return (
    <>
      <Permitted organizationId={organizationId} permission="member:read" title={texts.members.title}>
        <Members organizationId={organizationId} />
      </Permitted>
      <SecondFactorDemand organizationId={organizationId} />
      <LeaveOrganization organizationId={organizationId} />
    </>
  );
}

type Act = "roles" | "password" | "remove";

interface Opened {
  readonly act: Act;
  readonly member: Member;
}

function Members({ organizationId }: { readonly organizationId: string }) {
  const words = texts.members;
  const { userId } = useUser();
  const query = useInfiniteQuery(membersQuery(organizationId));
  const mayUpdate = usePermission(organizationId, "member:update");
  const mayReadRoles = usePermission(organizationId, "role:read");
  const mayRemove = usePermission(organizationId, "member:remove");
  const [opened, setOpened] = useState<Opened | undefined>();
  const acts: Act[] = [];
  if (mayUpdate && mayReadRoles) acts.push("roles");
  if (mayUpdate) acts.push("password");
  if (mayRemove) acts.push("remove");
  const shown = { organizationId, onClose: () => setOpened(undefined) };
  return (
    <>
      <ListPanel
        title={words.title}
        caption={words.caption}
        query={query}
        rows={query.data?.pages.flatMap((page) => page.members)}
        rowKey={(member) => member.userId}
        columns={columnsFor(userId, acts, setOpened)}
        foldLines={2}
        empty={<EmptyState text={words.noMembers} />}
      />
      {opened?.act === "roles" && <ChangeRoles {...shown} member={opened.member} />}
      {opened?.act === "password" && <PasswordLink {...shown} member={opened.member} />}
      {opened?.act === "remove" && <RemoveMember {...shown} member={opened.member} />}
    </>
  );
}

function columnsFor(ownId: string, acts: readonly Act[], open: (opened: Opened) => void): readonly Column<Member>[] {
  const words = texts.members;
  const columns: Column<Member>[] = [
    {
      id: "name",
      header: words.name,
      cell: ({ userId, displayName, email }) => (
        <span title={email}>
          {displayName} {userId === ownId && <span className="soft">({words.you})</span>}
        </span>
      ),
    },
    {
      id: "email",
      header: words.email,
      isOptional: true,
      isSelfEvident: true,
      isLong: true,
      cell: ({ email }) => <span title={email}>{email}</span>,
    },
    {
      id: "roles",
      header: words.roles,
      width: "26%",
      cell: ({ roles }) => <span title={roles.join(", ")}>{roles.join(", ")}</span>,
    },
    {
      id: "since",
      header: words.since,
      width: "170px",
      isOptional: true,
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
  ];
  if (acts.length === 0) return columns;
  const actions: Column<Member> = {
    id: "actions",
    header: texts.settings.actions,
    align: "end",
    width: "124px",
    cell: (member) => acts.map((act) => <Action key={act} act={act} member={member} open={open} />),
  };
  return [...columns, actions];
}

const icons = { roles: "edit", password: "link", remove: "cross" } as const;

function Action({ act, member, open }: Opened & { readonly open: (opened: Opened) => void }) {
  const words = texts.members;
  const labels = { roles: words.changeNamed, password: words.passwordLinkFor, remove: words.removeNamed };
  const label = labels[act](member.displayName);
  return (
    <Button kind="quiet" icon={icons[act]} title={label} onClick={() => open({ act, member })}>
      <span className="visually-hidden">{label}</span>
    </Button>
  );
}
