import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { policyQuery } from '../api/operations/policies.ts';
import type { PolicyChange } from '../api/types.ts';
import { Badge } from '../ui/values/badge.tsx';
import { DataTable } from '../ui/tables/data-table.tsx';
import { IdText } from '../ui/values/id-text.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { NotFound } from '../ui/feedback/not-found.tsx';
import { Page } from '../ui/page.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { EditPolicy } from './edit-policy.tsx';
import { formatPolicyValue } from './policy-value.ts';
import { ResolutionPanel } from './resolution-panel.tsx';
import { VALUE_SOURCES } from './sources.ts';

const route = getRouteApi('/signed-in/operator/policies/$policyName');

export function PolicyPage() {
  const { policyName } = route.useParams();
  const { tenant } = route.useSearch();
  const query = useQuery(policyQuery(policyName, tenant));
  return (
    <QueryBoundary
      query={query}
      loading={<Skeleton label="Loading the policy" />}
      missing={<NotFound what="policy" />}
    >
      {(policy) => {
        const say = (value: PolicyChange['after']) =>
          value === null ? 'Not set' : formatPolicyValue(policy, value);
        return (
          <Page
            title={policy.name}
            aside={
              <Badge tone={VALUE_SOURCES[policy.source].tone}>{VALUE_SOURCES[policy.source].label}</Badge>
            }
            subtitle={policy.doc}
          >
            <div className="grid items-start gap-4 lg:grid-cols-2">
              <ResolutionPanel policy={policy} tenant={tenant} />
              <EditPolicy key={`${policy.name} ${tenant ?? ''}`} policy={policy} tenant={tenant} />
            </div>
            <Panel title="History" flush>
              {policy.history.length === 0 ? (
                <p className="p-4 text-sm text-ink-muted">No changes yet</p>
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
    </QueryBoundary>
  );
}
