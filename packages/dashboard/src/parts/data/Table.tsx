import { type CSSProperties, type ReactNode, useEffect, useRef } from "react";
import "./Table.css";
import type { MorePages } from "../../api/more-pages.ts";
import { texts } from "../../texts/texts.ts";
import { classNames } from "../class-names.ts";
import { Button } from "../controls/Button.tsx";
import { useIsNarrow } from "../layout/use-is-narrow.ts";
import { useRowsInView } from "./use-rows-in-view.ts";

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  /** The cell of the first column names the row. If it is a link, the whole row leads there. */
  readonly cell: (row: Row) => ReactNode;
  /** The width of the column, in CSS. Columns without a width share the rest of the table. */
  readonly width?: string;
  readonly align?: "end";
  /** True if the cell is folded below the rest of the row when there is little space. */
  readonly isOptional?: boolean;
  /** True if the value is clear in the fold without its header. */
  readonly isSelfEvident?: boolean;
  /** True if the text may be long. It then comes last in the fold, which cuts off the end. */
  readonly isLong?: boolean;
}

interface TableProps<Row> {
  /** A name for the content of the table, for people who use a screen reader. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Further pages of the list. They are loaded as the reader comes near the end. */
  readonly more?: MorePages;
  /** The number of lines of the fold. Default: two if the fold has three columns or more, otherwise one. */
  readonly foldLines?: number;
}

/**
 * The height of a row without a fold. Table.css sets the same height. All rows of a table have the same height, so that the place of a row is known
 * without drawing the rows above it.
 */
const plainRowPixels = 40;
const foldedRowPixels = 46;
const foldLinePixels = 20;
/** If a table has fewer rows than this, all of them are drawn. */
const minLongRows = 80;
/** The next page is requested when at most this many loaded rows are below the drawn rows. */
const rowsAhead = 30;

/** A table of any length, which scrolls with the page. A long table draws only the rows that are in view, and some around them. */
export function Table<Row>({ caption, columns: all, rows, rowKey, more, foldLines: chosenLines }: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const isNarrow = useIsNarrow();
  const columns = isNarrow ? all.filter(({ isOptional = false }) => !isOptional) : all;
  const folded = isNarrow ? all.filter(({ isOptional = false }) => isOptional) : [];
  const isFolded = folded.length > 0;
  const foldLines = chosenLines ?? (folded.length > 2 ? 2 : 1);
  const rowPixels = isFolded ? foldedRowPixels + foldLines * foldLinePixels : plainRowPixels;
  const isLong = rows.length >= minLongRows;
  const { first, end } = useRowsInView({ place: body, count: rows.length, rowPixels, isLong });
  const isNearEnd = end + rowsAhead >= rows.length;
  const { hasMore = false, isLoading = false, hasFailed = false, load } = more ?? {};
  useEffect(() => {
    if (isNearEnd && hasMore && !isLoading && !hasFailed) load?.();
  }, [isNearEnd, hasMore, isLoading, hasFailed, load]);
  return (
    <>
      <table
        className={classNames("table", isFolded && "table-folded")}
        style={{ "--fold-lines": foldLines } as CSSProperties}
        aria-rowcount={hasMore ? -1 : rows.length + 1}
      >
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <th key={column.id} scope="col" className={classOf(column)} style={{ width: column.width }}>
                {column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          <Spacer pixels={first * rowPixels} />
          {rows.slice(first, end).map((row, index) => (
            <tr key={rowKey(row)} aria-rowindex={first + index + 2}>
              {columns.map((column, at) => (
                <td key={column.id} className={classOf(column)}>
                  {column.align === "end" ? column.cell(row) : <div className="table-cell">{column.cell(row)}</div>}
                  {at === 0 && isFolded && <Fold columns={folded} row={row} />}
                </td>
              ))}
            </tr>
          ))}
          <Spacer pixels={(rows.length - end) * rowPixels} />
        </tbody>
      </table>
      {more !== undefined && (
        <div className="table-end soft">
          <p role="status">{isLoading ? texts.parts.loadingMore : !hasMore && texts.parts.allShown(rows.length)}</p>
          {hasFailed && !isLoading && <Button onClick={load}>{texts.parts.loadMore}</Button>}
        </div>
      )}
    </>
  );
}

interface FoldProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly row: Row;
}

/**
 * The cells for which there is no space beside the others, in lines below them. They are not a table cell of their own, since that would be another
 * column.
 */
function Fold<Row>({ columns, row }: FoldProps<Row>) {
  const inOrder = columns.toSorted((one, other) => Number(one.isLong ?? false) - Number(other.isLong ?? false));
  return (
    <div className="table-fold">
      {inOrder.map(({ id, header, cell, isSelfEvident = false, isLong = false }) => {
        const content = cell(row);
        return content === "" || content === undefined || content === null || content === false ? null : (
          <span key={id} className={classNames(isLong && "table-fold-long")}>
            <span className={classNames(isSelfEvident && "visually-hidden")}>{header}: </span>
            {content}
          </span>
        );
      })}
    </div>
  );
}

/** Fills the space of rows that are not drawn. */
function Spacer({ pixels }: { readonly pixels: number }) {
  if (pixels <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it takes the focus
    <tr aria-hidden="true" className="table-spacer">
      <td style={{ height: pixels }} />
    </tr>
  );
}

function classOf<Row>({ align }: Column<Row>): string {
  return classNames(align === "end" && "table-end-aligned");
}
