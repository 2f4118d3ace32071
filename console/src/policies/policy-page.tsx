import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { policyQuery } from '../api/policies.ts';
import type { PolicyChange } from '../api/types.ts';
import { Badge } from '../ui/badge.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { IdText } from '../ui/id-text.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { NotFound } from '../ui/not-found.tsx';
import { Page } from '../ui/page.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import { EditPolicy } from './edit-policy.tsx';
import { sayValue } from './policy-value.ts';
import { ResolutionPanel } from './resolution-panel.tsx';
import { SOURCES } from './sources.ts';

const route = getRouteApi('/signed-in/operator/policies/$policyName');

export function PolicyPage() {
  const { policyName } = route.useParams();
  const { tenant } = route.useSearch();
  const query = useQuery(policyQuery(policyName, tenant));
  return (
    <Loaded
      query={query}
      loading={<Skeleton label="Loading the policy" />}
      missing={<NotFound what="policy" />}
    >
      {(policy) => {
        const say = (value: PolicyChange['after']) => (value === null ? 'Not set' : sayValue(policy, value));
        return (
          <Page
            title={policy.name}
            aside={<Badge tone={SOURCES[policy.source].tone}>{SOURCES[policy.source].label}</Badge>}
            subtitle={policy.doc}
          >
            <div className="grid items-start gap-4 lg:grid-cols-2">
              <ResolutionPanel policy={policy} tenant={tenant} />
              <EditPolicy key={`${policy.name} ${tenant ?? ''}`} policy={policy} tenant={tenant} />
            </div>
            <Panel title="History" flush>
              {policy.history.length === 0 ? (
                <p className="p-4 text-sm text-ink-muted">It was never changed here.</p>
              ) : (
                <DataTable
                  label="History"
                  rows={policy.history}
                  rowKey={({ id }) => id}
                  columns={[
                    { header: 'When', cell: ({ changed_at: at }) => <Timestamp at={at} /> },
                    { header: 'Before', cell: ({ before }) => say(before) },
                    { header: 'After', cell: ({ after }) => say(after) },
                    { header: 'Reason', cell: ({ reason }) => reason || '—', from: 'md' },
                    {
                      header: 'Who',
                      cell: ({ actor_id: id }) => <IdText id={id} label="actor id" />,
                      from: 'lg',
                    },
                  ]}
                />
              )}
            </Panel>
          </Page>
        );
      }}
    </Loaded>
  );
}
