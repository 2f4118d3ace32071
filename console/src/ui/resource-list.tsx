import type { ReactNode } from 'react';
import { DataTable, type Column } from './data-table.tsx';
import { Loaded } from './loaded.tsx';
import { ShowMore } from './show-more.tsx';
import { Skeleton } from './skeleton.tsx';

interface ResourceListProps<Row> {
  label: string;
  query: {
    data: Row[] | undefined;
    error: Error | null;
    refetch: () => unknown;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage: () => unknown;
  };
  columns: Column<Row>[];
  rowKey: (row: Row) => string;
  /** What to show while there is nothing to list. */
  empty: ReactNode;
}

/** A paginated list of the contract: loading, refused, empty, or a table that grows. */
export function ResourceList<Row>({ label, query, columns, rowKey, empty }: ResourceListProps<Row>) {
  return (
    <Loaded query={query} loading={<Skeleton label={`Loading ${label.toLowerCase()}`} />}>
      {(rows) =>
        rows.length === 0 ? (
          empty
        ) : (
          <>
            <DataTable label={label} columns={columns} rows={rows} rowKey={rowKey} />
            <ShowMore query={query} />
          </>
        )
      }
    </Loaded>
  );
}
