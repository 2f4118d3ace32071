import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { LayoutGrid } from 'lucide-react';
import { slotsQuery } from '../../api/fleet/fleet.ts';
import type { ResourceSlot } from '../../api/types.ts';
import { EmptyState } from '../../ui/feedback/empty-state.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { SlotCell } from './slot-cell.tsx';
import { SlotDetail } from './slot-detail.tsx';
import { SlotLegend } from './slot-legend.tsx';

const route = getRouteApi('/signed-in/operator/nodes/$nodeId');

export function SlotsPanel({ nodeId }: { nodeId: string }) {
  const query = useQuery(slotsQuery(nodeId));
  return (
    <Panel title="Slots">
      <QueryBoundary query={query} loading={<Skeleton label="Loading slots" rows={3} />}>
        {(slots) =>
          slots.length > 0 ? (
            <SlotPicture slots={slots} />
          ) : (
            <EmptyState icon={LayoutGrid} title="No slots approved">
              Run a discovery below and approve its candidates. Only approved slots are sold.
            </EmptyState>
          )
        }
      </QueryBoundary>
    </Panel>
  );
}

/** The node's slots as they sit in it: one block per NUMA node. The chosen slot is in the address. */
function SlotPicture({ slots }: { slots: ResourceSlot[] }) {
  const { slot: chosenIndex } = route.useSearch();
  const navigate = route.useNavigate();
  const chosen = slots.find(({ slot_index: index }) => index === chosenIndex);
  const choose = ({ slot_index: index }: ResourceSlot) =>
    void navigate({
      search: index === chosenIndex ? {} : { slot: index },
      replace: true,
      resetScroll: false,
    });
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-3 sm:grid-cols-2">
        {[...Map.groupBy(slots, ({ numa_node: numa }) => numa)].map(([numa, group]) => (
          <div
            key={numa}
            role="group"
            aria-label={`NUMA node ${numa}`}
            className="rounded-md border border-line bg-sunken p-3"
          >
            <p className="pb-2 text-xs text-ink-faint">NUMA node {numa}</p>
            <div className="grid grid-cols-4 gap-2">
              {group.map((slot) => (
                <SlotCell key={slot.id} slot={slot} chosen={slot === chosen} onChoose={() => choose(slot)} />
              ))}
            </div>
          </div>
        ))}
      </div>
      <SlotLegend />
      {chosen ? (
        <SlotDetail slot={chosen} />
      ) : (
        <p className="text-sm text-ink-faint">Select a slot to see its devices, addresses and health.</p>
      )}
    </div>
  );
}
