import { ArrowDown, ArrowUp } from 'lucide-react';

/** By which column rows are sorted, and which way. */
export interface SortOrder {
  by: string;
  down: boolean;
}

interface ColumnHeaderProps {
  header: string;
  className: string;
  sorted: SortOrder | undefined;
  /** Left out for a column that cannot be sorted. */
  onSort: ((sorted: SortOrder) => void) | undefined;
}

export function ColumnHeader({ header, className, sorted, onSort }: ColumnHeaderProps) {
  const by = sorted?.by === header ? sorted : null;
  const Arrow = by?.down ? ArrowDown : ArrowUp;
  return (
    <th
      scope="col"
      aria-sort={by ? (by.down ? 'descending' : 'ascending') : undefined}
      className={`py-2 text-xs font-medium text-ink-faint ${className}`}
    >
      {onSort ? (
        <button
          type="button"
          onClick={() => onSort({ by: header, down: by ? !by.down : false })}
          className="inline-flex items-center gap-1 hover:text-ink"
        >
          {header}
          {by && <Arrow aria-hidden className="size-3" />}
        </button>
      ) : (
        header
      )}
    </th>
  );
}
