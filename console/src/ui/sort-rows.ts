import type { Sorted } from './column-header.tsx';
import type { Column } from './data-table.tsx';

/** The rows in the order of a column; as they came when none is named or it has no order. */
export function sortRows<Row>(rows: Row[], columns: Column<Row>[], sorted: Sorted | undefined): Row[] {
  const order = columns.find(({ header }) => header === sorted?.by)?.sort;
  if (!order || !sorted) return rows;
  return rows.toSorted((a, b) => (sorted.down ? order(b, a) : order(a, b)));
}

/** An order as it stands in an address: `Name`, or `-Name` downwards. */
export function sortedOf(text: string | undefined): Sorted | undefined {
  if (!text) return undefined;
  return text.startsWith('-') ? { by: text.slice(1), down: true } : { by: text, down: false };
}

export function sortedAsText({ by, down }: Sorted): string {
  return down ? `-${by}` : by;
}
