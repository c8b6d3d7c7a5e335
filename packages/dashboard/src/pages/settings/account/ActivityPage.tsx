import { useInfiniteQuery } from "@tanstack/react-query";
import { type AccountActivity, accountActivityQuery } from "../../../api/account.ts";
import { ListPanel } from "../../../parts/data/ListPanel.tsx";
import type { Column } from "../../../parts/data/Table.tsx";
import { EmptyState } from "../../../parts/states/EmptyState.tsx";
import { Time } from "../../../parts/words/Time.tsx";
import { texts } from "../../../texts/texts.ts";

/** Shows what happened in the account, so that its owner can notice what somebody else did. */
export function ActivityPage() {
  const words = texts.activity;
  const query = useInfiniteQuery(accountActivityQuery);
  return (
    <ListPanel
      title={words.title}
      caption={words.caption}
      query={query}
      rows={query.data?.pages.flatMap((page) => page.activities)}
      rowKey={({ activityId }) => activityId}
      columns={columns()}
      foldLines={2}
      empty={<EmptyState text={words.none} />}
    />
  );
}

function columns(): readonly Column<AccountActivity>[] {
  const words = texts.activity;
  return [
    {
      id: "what",
      header: words.what,
      cell: ({ action }) => <span title={action}>{words.actions[action] ?? action}</span>,
    },
    { id: "when", header: words.when, width: "170px", cell: ({ happenedAt }) => <Time at={happenedAt} /> },
    {
      id: "address",
      header: words.address,
      isOptional: true,
      isSelfEvident: true,
      cell: ({ address }) => address ?? words.fromHere,
    },
    {
      id: "details",
      header: words.details,
      isOptional: true,
      isSelfEvident: true,
      width: "34%",
      cell: ({ details }) => {
        const text = wordsOf(details);
        return text === "" ? text : <span title={text}>{text}</span>;
      },
    },
  ];
}

/** Describes the details of a row. Ids come last, since they only distinguish one session from another. */
function wordsOf(details: AccountActivity["details"]): string {
  const words = texts.activity;
  const isId = (name: string) => Number(name.endsWith("Id"));
  const sorted = Object.entries(details).toSorted(([a], [b]) => isId(a) - isId(b));
  return sorted.map(([name, value]) => words.detailWords[name]?.(value) ?? words.detail(name, value)).join(", ");
}
