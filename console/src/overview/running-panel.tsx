import { Link } from '@tanstack/react-router';
import { ALLOCATION_COLUMNS } from '../allocations/allocation-columns.tsx';
import type { Allocation } from '../api/types.ts';
import { DataTable } from '../ui/tables/data-table.tsx';
import { Panel } from '../ui/panel.tsx';

/** So many fit without scrolling; the list of allocations has all. */
const SHOWN = 8;

export function RunningPanel({ allocations, more }: { allocations: Allocation[]; more: boolean }) {
  return (
    <Panel
      title="Running"
      flush
      aside={
        <Link to="/allocations" className="text-sm text-accent-text hover:underline">
          {more || allocations.length > SHOWN ? 'Show all' : 'All allocations'}
        </Link>
      }
    >
      <DataTable
        label="Running"
        columns={ALLOCATION_COLUMNS.filter(({ header }) => !['SKU', 'Region'].includes(header))}
        rows={allocations.slice(0, SHOWN)}
        rowKey={({ id }) => id}
      />
    </Panel>
  );
}
