import type { ReactNode } from "react";
import { morePages, type PagedQuery } from "../../api/more-pages.ts";
import { Panel } from "../layout/Panel.tsx";
import { Problem } from "../states/Problem.tsx";
import { Skeleton } from "../states/Skeleton.tsx";
import { type Column, Table } from "./Table.tsx";

interface ListQuery extends PagedQuery {
  readonly error: unknown;
  readonly refetch: () => unknown;
}

interface ListPanelProps<Row> {
  readonly title: string;
  readonly caption: string;
  readonly query: ListQuery;
  /** Undefined until the first page is loaded. */
  readonly rows: readonly Row[] | undefined;
  readonly rowKey: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  /** Shown instead of a table without rows. */
  readonly empty: ReactNode;
  readonly actions?: ReactNode;
  readonly foldLines?: number;
}

/** A list in pages, with what is shown while it is loaded, when it is empty, and after an error. */
export function ListPanel<Row>(props: ListPanelProps<Row>) {
  const { title, caption, query, rows, rowKey, columns, empty, actions, foldLines } = props;
  const { error, refetch, hasNextPage } = query;
  return (
    <Panel title={title} isFlush actions={actions}>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {rows === undefined && error === null && <Skeleton rows={4} />}
      {rows?.length === 0 && !hasNextPage && empty}
      {rows !== undefined && (rows.length > 0 || hasNextPage) && (
        <Table
          caption={caption}
          columns={columns}
          rows={rows}
          rowKey={rowKey}
          more={morePages(query)}
          {...(foldLines !== undefined && { foldLines })}
        />
      )}
    </Panel>
  );
}
