import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { policiesQuery } from '../api/operations/policies.ts';
import type { Policy } from '../api/types.ts';
import { Badge } from '../ui/values/badge.tsx';
import { DataTable, ROW_LINK_CLASS, type Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Field } from '../ui/forms/field.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Page } from '../ui/page.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Surface } from '../ui/surface.tsx';
import { findPolicies } from './find-policies.ts';
import { formatPolicyValue } from './policy-value.ts';
import { VALUE_SOURCES } from './sources.ts';

const route = getRouteApi('/signed-in/operator/policies');

const COLUMNS: Column<Policy>[] = [
  {
    header: 'Policy',
    cell: ({ name, doc }) => (
      <span className="flex flex-col">
        <Link to="/operator/policies/$policyName" params={{ policyName: name }} className={ROW_LINK_CLASS}>
          <code className="font-mono">{name}</code>
        </Link>
        <span title={doc} className="block max-w-lg truncate text-xs text-ink-faint">
          {doc}
        </span>
      </span>
    ),
  },
  {
    header: 'Effective value',
    cell: (policy) => (
      <span title={formatPolicyValue(policy, policy.value)} className="block max-w-56 truncate tabular-nums">
        {formatPolicyValue(policy, policy.value)}
      </span>
    ),
  },
  {
    header: 'Source',
    cell: ({ source }) => <Badge tone={VALUE_SOURCES[source].tone}>{VALUE_SOURCES[source].label}</Badge>,
    from: 'md',
  },
];

export function PoliciesPage() {
  const { find = '', tenant } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(policiesQuery(tenant));
  return (
    <Page title="Policies" subtitle="Platform settings, their effective values and sources">
      <div className="max-w-md">
        <Field
          label="Find"
          value={find}
          placeholder="sign-in, quota, wipe"
          onChange={(next) =>
            void navigate({
              search: ({ find: _find, ...rest }) => (next ? { ...rest, find: next } : rest),
              replace: true,
            })
          }
        />
      </div>
      <Surface>
        <QueryBoundary query={query} loading={<Skeleton label="Loading policies" rows={8} />}>
          {(policies) => {
            const found = findPolicies(policies, find);
            return found.length > 0 ? (
              <DataTable label="Policies" columns={COLUMNS} rows={found} rowKey={({ name }) => name} />
            ) : (
              <EmptyState icon={SearchX} title={`No policies match “${find}”`}>
                Try another word.
              </EmptyState>
            );
          }}
        </QueryBoundary>
      </Surface>
    </Page>
  );
}
