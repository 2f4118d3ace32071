import type { ReactNode } from 'react';

export interface Column<Row> {
  header: string;
  cell: (row: Row) => ReactNode;
  align?: 'right';
  /** The narrowest screen that still shows the column; always shown when left out. */
  from?: 'sm' | 'md' | 'lg' | 'xl';
}

interface DataTableProps<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string;
}

const FROM = {
  sm: 'hidden sm:table-cell',
  md: 'hidden md:table-cell',
  lg: 'hidden lg:table-cell',
  xl: 'hidden xl:table-cell',
};

export function DataTable<Row>({ label, columns, rows, rowKey }: DataTableProps<Row>) {
  return (
    // Focusable, so that arrow keys scroll what a narrow screen cuts off.
    <div role="region" aria-label={label} tabIndex={0} className="overflow-x-auto">
      <table className="w-full border-collapse text-sm">
        <thead>
          <tr className="border-b border-line">
            {columns.map((column) => (
              <th
                key={column.header}
                scope="col"
                className={`py-2 text-xs font-medium text-ink-faint ${place(column)}`}
              >
                {column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} className="relative border-b border-line last:border-0 hover:bg-hover/60">
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

function place<Row>(column: Column<Row>): string {
  const side = column.align === 'right' ? 'text-right tabular-nums' : 'text-left';
  return `px-4 whitespace-nowrap ${side} ${column.from ? FROM[column.from] : ''}`;
}

/** For the link in a row's first cell: the whole row becomes its target. */
export const ROW_LINK_CLASS = 'font-medium text-ink after:absolute after:inset-0 hover:text-accent-text';
