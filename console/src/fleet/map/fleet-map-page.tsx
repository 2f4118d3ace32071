import { getRouteApi } from '@tanstack/react-router';
import { SearchX, ServerOff } from 'lucide-react';
import type { Node } from '../../api/types.ts';
import { pluralize } from '../../format/humanize.ts';
import type { FleetMapSearch } from '../../search-params.ts';
import { EmptyState } from '../../ui/feedback/empty-state.tsx';
import { Field } from '../../ui/forms/field.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Page } from '../../ui/page.tsx';
import { Select } from '../../ui/forms/select.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Surface } from '../../ui/surface.tsx';
import { filterFleet, groupFleet } from './group-fleet.ts';
import { POSTURES } from '../postures.ts';
import { ZOOM_LEVELS } from './zooms.ts';
import { RackPanel } from './rack-panel.tsx';
import { SlotLegend } from '../slots/slot-legend.tsx';
import { useWholeFleet } from './use-whole-fleet.ts';
import { keysOf } from '../../typed-keys.ts';

const route = getRouteApi('/signed-in/operator/fleet');
const ANY = 'any';

export function FleetMapPage() {
  const query = useWholeFleet();
  return (
    <Page title="Fleet" subtitle="Hosts by rack, with slot states">
      <QueryBoundary query={query} loading={<Skeleton label="Loading the fleet" rows={8} />}>
        {(nodes) =>
          nodes.length === 0 ? (
            <Surface>
              <EmptyState icon={ServerOff} title="No hosts yet">
                Create an enrolment token to add a host.
              </EmptyState>
            </Surface>
          ) : (
            <FleetMap nodes={nodes} />
          )
        }
      </QueryBoundary>
    </Page>
  );
}

function FleetMap({ nodes }: { nodes: Node[] }) {
  const { project: _project, ...filter } = route.useSearch();
  const shown = filterFleet(nodes, filter);
  const zoom = filter.zoom ?? 'between';
  return (
    <>
      <FleetFilter nodes={nodes} filter={filter} />
      <SlotLegend />
      {shown.length === 0 && (
        <EmptyState icon={SearchX} title="No hosts match">
          {pluralize(nodes.length, 'host')} enrolled.
        </EmptyState>
      )}
      {groupFleet(shown).map(({ region, racks, nodes: hosts, slots, free }) => (
        <section key={region} aria-label={region} className="flex flex-col gap-3">
          <h2 className="flex flex-wrap items-baseline gap-x-3 text-sm font-semibold">
            {region}
            <span className="font-normal text-ink-muted tabular-nums">
              {pluralize(hosts, 'host')}, {free.toLocaleString('en-US')} of {pluralize(slots, 'slot')} free
            </span>
          </h2>
          <div className={`grid items-start gap-3 ${ZOOM_LEVELS[zoom].racks}`}>
            {racks.map((rack) => (
              <RackPanel key={rack.rack} rack={rack.rack} nodes={rack.nodes} zoom={zoom} />
            ))}
          </div>
        </section>
      ))}
    </>
  );
}

function FleetFilter({ nodes, filter }: { nodes: Node[]; filter: FleetMapSearch }) {
  const navigate = route.useNavigate();
  const change = (name: keyof FleetMapSearch, value: string) =>
    void navigate({
      search: ({ [name]: _old, ...rest }) => (value && value !== ANY ? { ...rest, [name]: value } : rest),
      replace: true,
    });
  const regions = [...new Set(nodes.map(({ region }) => region))].sort();
  return (
    <div className="grid items-end gap-3 sm:grid-cols-2 lg:grid-cols-[1fr_13rem_15rem_11rem]">
      <Field
        label="Find"
        value={filter.find ?? ''}
        onChange={(next) => change('find', next)}
        placeholder="Host, rack or pool"
      />
      <div className="flex flex-col gap-1.5">
        <Select
          label="Region"
          value={filter.region ?? ANY}
          onChange={(next) => change('region', next)}
          options={[
            { value: ANY, label: 'All regions' },
            ...regions.map((region) => ({ value: region, label: region })),
          ]}
        />
      </div>
      <div className="flex flex-col gap-1.5">
        <Select
          label="Status"
          value={filter.posture ?? ANY}
          onChange={(next) => change('posture', next)}
          options={[
            { value: ANY, label: 'Any status' },
            ...keysOf(POSTURES).map((posture) => ({
              value: posture as string,
              label: POSTURES[posture].label,
            })),
          ]}
        />
      </div>
      <div className="flex flex-col gap-1.5">
        <Select
          label="Zoom"
          value={filter.zoom ?? ANY}
          onChange={(next) => change('zoom', next)}
          options={[
            { value: 'far', label: 'Compact' },
            { value: ANY, label: 'Default' },
            { value: 'near', label: 'Large' },
          ]}
        />
      </div>
    </div>
  );
}
