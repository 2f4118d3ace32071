import type { ReactNode } from 'react';
import { DataTable, type Column } from './data-table.tsx';
import { QueryBoundary } from '../feedback/query-boundary.tsx';
import { ShowMore } from './show-more.tsx';
import { Skeleton } from '../feedback/skeleton.tsx';

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
  /** Content of an empty list. */
  empty: ReactNode;
}

/** A paginated list of the contract: loading, refused, empty, or a table that grows. */
export function ResourceList<Row>({ label, query, columns, rowKey, empty }: ResourceListProps<Row>) {
  return (
    <QueryBoundary query={query} loading={<Skeleton label={`Loading ${label.toLowerCase()}`} />}>
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
    </QueryBoundary>
  );
}
