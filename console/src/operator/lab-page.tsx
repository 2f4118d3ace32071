import { useInfiniteQuery } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import { labHostsQuery, setLabFaults } from '../api/fleet/lab.ts';
import { fleetKeys, operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import type { LabFault, LabHost } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { LAB_FAULTS } from '../fleet/nodes/lab-faults.ts';
import { Badge } from '../ui/values/badge.tsx';
import { Button } from '../ui/actions/button.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ProblemNotice } from '../ui/feedback/problem-notice.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Select } from '../ui/forms/select.tsx';
import { Surface } from '../ui/surface.tsx';

const LABELS = new Map(LAB_FAULTS.map(({ fault, label }) => [fault, label]));

export function LabPage() {
  const query = useInfiniteQuery(labHostsQuery);
  const refusal = usePlatformDisabledReason('lab.operate');
  const change = useRefreshingMutation({
    mutationFn: setLabFaults,
    refreshes: [operatorKeys.labHosts, fleetKeys.nodes],
  });
  const set = (host: LabHost, faults: LabFault[]) => change.mutate({ hostname: host.hostname, faults });
  return (
    <Page title="Lab" subtitle="Simulated hosts. Inject faults and watch the platform react.">
      {change.error && <ProblemNotice error={change.error} />}
      <Surface>
        <ResourceList
          label="Simulated hosts"
          query={query}
          rowKey={({ hostname }) => hostname}
          empty={
            <EmptyState icon={FlaskConical} title="No simulated hosts">
              This platform has real hosts only.
            </EmptyState>
          }
          columns={[
            { header: 'Host', cell: ({ hostname }) => <span className="font-medium">{hostname}</span> },
            { header: 'Active faults', cell: (host) => <Faults host={host} /> },
            {
              header: 'Fault',
              cell: (host) => (
                <span className="block max-w-64">
                  <Select<LabFault>
                    label={`Inject a fault on ${host.hostname}`}
                    hideLabel
                    value={null}
                    placeholder="Inject fault"
                    onChange={(fault) => set(host, [...host.faults, fault])}
                    options={LAB_FAULTS.map(({ fault, label }) => ({
                      value: fault,
                      label,
                      disabledReason: refusal ?? (host.faults.includes(fault) ? 'Already active' : null),
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
                    disabledReason={refusal ?? (host.faults.length === 0 ? 'No active faults.' : null)}
                    onClick={() => set(host, [])}
                  >
                    Clear faults
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
  if (faults.length === 0) return <Badge tone="success">Healthy</Badge>;
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
