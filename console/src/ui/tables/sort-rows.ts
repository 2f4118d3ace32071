import type { SortOrder } from './column-header.tsx';
import type { Column } from './data-table.tsx';

/** Sorts the rows by a column; unchanged without a column or if it has no order. */
export function sortRows<Row>(rows: Row[], columns: Column<Row>[], sorted: SortOrder | undefined): Row[] {
  const order = columns.find(({ header }) => header === sorted?.by)?.sort;
  if (!order || !sorted) return rows;
  return rows.toSorted((a, b) => (sorted.down ? order(b, a) : order(a, b)));
}

/** A sort order in the URL: `Name`, or `-Name` for descending. */
export function parseSortOrder(text: string | undefined): SortOrder | undefined {
  if (!text) return undefined;
  return text.startsWith('-') ? { by: text.slice(1), down: true } : { by: text, down: false };
}

export function formatSortOrder({ by, down }: SortOrder): string {
  return down ? `-${by}` : by;
}
