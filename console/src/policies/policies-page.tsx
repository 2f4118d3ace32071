import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { policiesQuery } from '../api/policies.ts';
import type { Policy } from '../api/types.ts';
import { Badge } from '../ui/badge.tsx';
import { DataTable, ROW_LINK_CLASS, type Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Field } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Surface } from '../ui/surface.tsx';
import { sayValue } from './policy-value.ts';
import { SOURCES } from './sources.ts';

const route = getRouteApi('/signed-in/operator/policies');

const COLUMNS: Column<Policy>[] = [
  {
    header: 'Key',
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
    header: 'Holds',
    cell: (policy) => (
      <span title={sayValue(policy, policy.value)} className="block max-w-56 truncate tabular-nums">
        {sayValue(policy, policy.value)}
      </span>
    ),
  },
  {
    header: 'From',
    cell: ({ source }) => <Badge tone={SOURCES[source].tone}>{SOURCES[source].label}</Badge>,
    from: 'md',
  },
];

export function PoliciesPage() {
  const { find = '', tenant } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(policiesQuery(tenant));
  const wanted = find.toLowerCase();
  return (
    <Page
      title="Policies"
      subtitle="Every value a business decides, what holds now, and where it comes from."
    >
      <div className="max-w-md">
        <Field
          label="Find"
          value={find}
          placeholder="session, quota, wipe"
          onChange={(next) =>
            void navigate({
              search: ({ find: _find, ...rest }) => (next ? { ...rest, find: next } : rest),
              replace: true,
            })
          }
        />
      </div>
      <Surface>
        <Loaded query={query} loading={<Skeleton label="Loading policies" rows={8} />}>
          {(policies) => {
            const found = policies.filter(({ name, doc }) => `${name} ${doc}`.toLowerCase().includes(wanted));
            return found.length > 0 ? (
              <DataTable label="Policies" columns={COLUMNS} rows={found} rowKey={({ name }) => name} />
            ) : (
              <EmptyState icon={SearchX} title="No key matches">
                Nothing is named or described so.
              </EmptyState>
            );
          }}
        </Loaded>
      </Surface>
    </Page>
  );
}
