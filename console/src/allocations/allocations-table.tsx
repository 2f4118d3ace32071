import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { useState } from 'react';
import { allocationsQuery } from '../api/allocations/allocations.ts';
import { useProjectDisabledReason } from '../api/me.ts';
import type { Allocation } from '../api/types.ts';
import { allocationsSearch, type AllocationsSearch } from '../search-params.ts';
import { DataTable } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { ShowMore } from '../ui/tables/show-more.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { formatSortOrder, parseSortOrder, sortRows } from '../ui/tables/sort-rows.ts';
import { Surface } from '../ui/surface.tsx';
import { ALLOCATION_COLUMNS } from './allocation-columns.tsx';
import { RELEASE_BLOCKERS } from './allocation-states.ts';
import { AllocationsFilter } from './allocations-filter.tsx';
import { BulkRelease } from './release/bulk-release.tsx';
import { NoAllocations } from './no-allocations.tsx';

const route = getRouteApi('/signed-in/allocations');

export function AllocationsTable({ projectId }: { projectId: string }) {
  const { project: _project, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(allocationsQuery(projectId, filter.state, filter.tag));
  const permission = useProjectDisabledReason(projectId, 'allocation.release');
  const [ticked, setTicked] = useState<Set<string>>(new Set());
  const change = (next: { [Name in keyof AllocationsSearch]?: AllocationsSearch[Name] | undefined }) =>
    void navigate({ search: (old) => allocationsSearch({ ...old, ...next }), replace: true });
  return (
    <QueryBoundary query={query} loading={<Skeleton label="Loading allocations" />}>
      {(allocations) =>
        allocations.length === 0 && !filter.state && !filter.tag ? (
          <Surface>
            <NoAllocations />
          </Surface>
        ) : (
          <>
            <AllocationsFilter filter={filter} onChange={change} />
            <BulkRelease
              allocations={allocations.filter(({ id }) => ticked.has(id))}
              onDone={() => setTicked(new Set())}
            />
            <Surface>
              <Rows
                allocations={found(allocations, filter.find)}
                filter={filter}
                onChange={change}
                ticked={ticked}
                onTick={setTicked}
                refusal={permission}
              />
              <ShowMore query={query} />
            </Surface>
          </>
        )
      }
    </QueryBoundary>
  );
}

interface RowsProps {
  allocations: Allocation[];
  filter: AllocationsSearch;
  onChange: (change: AllocationsSearch) => void;
  ticked: Set<string>;
  onTick: (ticked: Set<string>) => void;
  refusal: string | null;
}

function Rows({ allocations, filter, onChange, ticked, onTick, refusal }: RowsProps) {
  const sorted = parseSortOrder(filter.sort);
  if (allocations.length === 0) {
    return (
      <EmptyState icon={SearchX} title="No allocations match">
        Clear the filter to see all allocations.
      </EmptyState>
    );
  }
  return (
    <DataTable
      label="Allocations"
      columns={ALLOCATION_COLUMNS}
      rows={sortRows(allocations, ALLOCATION_COLUMNS, sorted)}
      rowKey={({ id }) => id}
      sorted={sorted}
      onSort={(next) => onChange({ sort: formatSortOrder(next) })}
      ticks={{
        ticked,
        onChange: onTick,
        name: ({ name }) => name,
        refusal: ({ state }) => refusal ?? RELEASE_BLOCKERS[state],
      }}
    />
  );
}

/** Filters the loaded rows by any word. */
function found(allocations: Allocation[], find: string | undefined): Allocation[] {
  const words = find?.toLowerCase().split(/\s+/).filter(Boolean) ?? [];
  return allocations.filter(({ name, sku, region, image, tags, id }) => {
    const text = `${name} ${sku} ${region} ${image} ${tags.join(' ')} ${id}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
