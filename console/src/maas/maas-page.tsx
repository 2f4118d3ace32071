import { useInfiniteQuery } from '@tanstack/react-query';
import { ProblemError } from '@gpuaas/sdk/problem';
import { ServerCog } from 'lucide-react';
import { maasMachinesQuery } from '../api/fleet/maas.ts';
import type { MaasMachine } from '../api/types.ts';
import { humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { Surface } from '../ui/surface.tsx';
import { ImportMachine } from './import-machine.tsx';
import { OnboardingsPanel } from './onboardings-panel.tsx';

const COLUMNS: Column<MaasMachine>[] = [
  { header: 'Machine', cell: ({ hostname }) => <span className="font-medium">{hostname}</span> },
  { header: 'In MAAS', cell: (machine) => <Status machine={machine} /> },
  { header: 'Model', cell: ({ product, architecture }) => product ?? architecture, from: 'md' },
  { header: 'Power', cell: ({ power_state: power }) => humanize(power), from: 'lg' },
  { header: 'Actions', cell: (machine) => <ImportMachine machine={machine} />, align: 'right' },
];

/** The machines of MAAS, and those being onboarded. */
export function MaasPage() {
  const query = useInfiniteQuery(maasMachinesQuery);
  const isOff = query.error instanceof ProblemError && query.error.problem.code === 'maas_disabled';
  return (
    <Page title="MAAS" subtitle="Machines managed by MAAS that can be imported as hosts">
      <OnboardingsPanel />
      <Surface>
        {isOff ? (
          <EmptyState icon={ServerCog} title="MAAS is not configured">
            Set MAAS_ENABLED and the MAAS URL for the API and the worker.
          </EmptyState>
        ) : (
          <ResourceList
            label="Machines"
            query={query}
            columns={COLUMNS}
            rowKey={({ system_id: id }) => id}
            empty={
              <EmptyState icon={ServerCog} title="No machines in MAAS">
                Machines appear after booting from the MAAS network.
              </EmptyState>
            }
          />
        )}
      </Surface>
    </Page>
  );
}

function Status({ machine: { status, owner } }: { machine: MaasMachine }) {
  const tone = status.startsWith('failed') || status === 'broken' ? 'danger' : 'neutral';
  return (
    <span className="flex flex-wrap items-center gap-2">
      <Badge tone={tone}>{humanize(status)}</Badge>
      {owner && <span className="text-ink-muted">{owner}</span>}
    </span>
  );
}
