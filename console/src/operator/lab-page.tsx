import { useInfiniteQuery } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import { labHostsQuery, setLabFaults } from '../api/lab.ts';
import { fleetKeys, operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { LabFault, LabHost } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { LAB_FAULTS } from '../fleet/lab-faults.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Select } from '../ui/select.tsx';
import { Surface } from '../ui/surface.tsx';

const LABELS = new Map(LAB_FAULTS.map(({ fault, label }) => [fault, label]));

export function LabPage() {
  const query = useInfiniteQuery(labHostsQuery);
  const refusal = usePlatformRefusal('lab.operate');
  const change = useChange({
    mutationFn: setLabFaults,
    refreshes: [operatorKeys.labHosts, fleetKeys.nodes],
  });
  const set = (host: LabHost, faults: LabFault[]) => change.mutate({ hostname: host.hostname, faults });
  return (
    <Page title="Lab" subtitle="Simulated hosts. Break them here and see what the platform makes of it.">
      {change.error && <ProblemNotice error={change.error} />}
      <Surface>
        <ResourceList
          label="Simulated hosts"
          query={query}
          rowKey={({ hostname }) => hostname}
          empty={
            <EmptyState icon={FlaskConical} title="No simulated host">
              This platform runs real hosts only.
            </EmptyState>
          }
          columns={[
            { header: 'Host', cell: ({ hostname }) => <span className="font-medium">{hostname}</span> },
            { header: 'Broken', cell: (host) => <Faults host={host} /> },
            {
              header: 'Break',
              cell: (host) => (
                <span className="block max-w-64">
                  <Select<LabFault>
                    label={`Break ${host.hostname}`}
                    hideLabel
                    value={null}
                    placeholder="Break it"
                    onChange={(fault) => set(host, [...host.faults, fault])}
                    options={LAB_FAULTS.map(({ fault, label }) => ({
                      value: fault,
                      label,
                      disabledReason: refusal ?? (host.faults.includes(fault) ? 'Broken so already' : null),
                    }))}
                  />
                </span>
              ),
            },
            {
              header: 'Actions',
              align: 'right',
              cell: (host) => (
                <RowActions>
                  <Button
                    size="sm"
                    busy={change.isPending}
                    disabledReason={refusal ?? (host.faults.length === 0 ? 'Nothing is broken.' : null)}
                    onClick={() => set(host, [])}
                  >
                    Mend
                  </Button>
                </RowActions>
              ),
            },
          ]}
        />
      </Surface>
    </Page>
  );
}

function Faults({ host: { faults } }: { host: LabHost }) {
  if (faults.length === 0) return <Badge tone="success">Works</Badge>;
  return (
    <span className="flex flex-wrap gap-1.5">
      {faults.map((fault) => (
        <Badge key={fault} tone="danger">
          {LABELS.get(fault) ?? fault}
        </Badge>
      ))}
    </span>
  );
}
