import type { ReactNode } from 'react';
import { ColumnHeader, type SortOrder } from './column-header.tsx';

export interface Column<Row> {
  header: string;
  cell: (row: Row) => ReactNode;
  align?: 'right';
  /** The narrowest screen that still shows the column; always shown when left out. */
  from?: 'sm' | 'md' | 'lg' | 'xl';
  /** The order of rows by this column, for tables that can be sorted. */
  sort?: (a: Row, b: Row) => number;
}

/** Rows that can be ticked, by their keys. */
export interface RowSelection<Row> {
  ticked: ReadonlySet<string>;
  onChange: (ticked: Set<string>) => void;
  /** Name of a row, for screen readers. */
  name: (row: Row) => string;
  /** Why a row cannot be ticked. */
  refusal: (row: Row) => string | null;
}

interface DataTableProps<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
  /** How the rows are sorted; columns with an order can then be sorted by. */
  sorted?: SortOrder | undefined;
  onSort?: (sorted: SortOrder) => void;
  ticks?: RowSelection<Row>;
}

const FROM = {
  sm: 'hidden sm:table-cell',
  md: 'hidden md:table-cell',
  lg: 'hidden lg:table-cell',
  xl: 'hidden xl:table-cell',
};

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowKey, sorted, onSort, ticks } = props;
  return (
    // Focusable, so that arrow keys scroll what a narrow screen cuts off.
    <div role="region" aria-label={label} tabIndex={0} className="overflow-x-auto">
      <table className="w-full border-collapse text-sm">
        <thead>
          <tr className="border-b border-line">
            {ticks && (
              <th scope="col" className="w-0 py-2 pl-4">
                <TickAll rows={rows} rowKey={rowKey} ticks={ticks} />
              </th>
            )}
            {columns.map((column) => (
              <ColumnHeader
                key={column.header}
                header={column.header}
                className={place(column)}
                sorted={sorted}
                onSort={column.sort && onSort}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} className="relative border-b border-line last:border-0 hover:bg-hover/60">
              {ticks && (
                <td className="w-0 py-2.5 pl-4">
                  <Tick row={row} id={rowKey(row)} ticks={ticks} />
                </td>
              )}
              {columns.map((column) => (
                <td key={column.header} className={`py-2.5 ${place(column)}`}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Tick<Row>({ row, id, ticks }: { row: Row; id: string; ticks: RowSelection<Row> }) {
  const refusal = ticks.refusal(row);
  return (
    <input
      type="checkbox"
      aria-label={`Select ${ticks.name(row)}`}
      title={refusal ?? undefined}
      disabled={refusal !== null}
      checked={ticks.ticked.has(id)}
      onChange={({ target }) => {
        const next = new Set(ticks.ticked);
        if (target.checked) next.add(id);
        else next.delete(id);
        ticks.onChange(next);
      }}
      className="relative z-10 align-middle"
    />
  );
}

function TickAll<Row>({
  rows,
  rowKey,
  ticks,
}: Pick<DataTableProps<Row>, 'rows' | 'rowKey'> & { ticks: RowSelection<Row> }) {
  const possible = rows.filter((row) => ticks.refusal(row) === null).map(rowKey);
  const all = possible.length > 0 && possible.every((key) => ticks.ticked.has(key));
  return (
    <input
      type="checkbox"
      aria-label="Select all"
      disabled={possible.length === 0}
      checked={all}
      onChange={() => ticks.onChange(new Set(all ? [] : possible))}
      className="align-middle"
    />
  );
}

function place<Row>(column: Column<Row>): string {
  const side = column.align === 'right' ? 'text-right tabular-nums' : 'text-left';
  return `px-4 whitespace-nowrap ${side} ${column.from ? FROM[column.from] : ''}`;
}

/** For the link in a row's first cell: the whole row becomes its target. */
export const ROW_LINK_CLASS = 'font-medium text-ink after:absolute after:inset-0 hover:text-accent-text';
