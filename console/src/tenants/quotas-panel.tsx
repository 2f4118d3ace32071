import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Scale } from 'lucide-react';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import { setTenantQuota, tenantQuotasQuery } from '../api/organization/tenants.ts';
import type { Quota, Tenant } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { humanize, shortId } from '../format/humanize.ts';
import { Button } from '../ui/actions/button.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProgressBar } from '../ui/charts/progress-bar.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { parseLimit, formatQuotaAmount, limitToInputValue } from './quota-amounts.ts';
import { NameWithDetail } from '../ui/values/name-with-detail.tsx';

/** Quota usage of a tenant's projects and people. */
export function QuotasPanel({ tenant }: { tenant: Tenant }) {
  const query = useInfiniteQuery(tenantQuotasQuery(tenant.id));
  const columns: Column<Quota>[] = [
    {
      header: 'Scope',
      cell: ({ holder, measure, unit }) => (
        <NameWithDetail name={holderName(tenant, holder)}>
          {humanize(measure)}
          {unit ? `, ${unit}` : ''}
        </NameWithDetail>
      ),
    },
    { header: 'Used', cell: (quota) => <Used quota={quota} /> },
    {
      header: 'Set by',
      cell: ({ limit_set_by: by }) => <span className="text-ink-muted">{humanize(by)}</span>,
      from: 'md',
    },
    { header: 'Actions', cell: (quota) => <SetLimit tenant={tenant} quota={quota} />, align: 'right' },
  ];
  return (
    <Panel title="Quotas" flush>
      <ResourceList
        label="Quotas"
        query={query}
        columns={columns}
        rowKey={({ holder, measure, unit }) => `${holder.id} ${measure} ${unit ?? ''}`}
        empty={
          <EmptyState icon={Scale} title="No quotas yet">
            Quotas appear once the tenant has projects and members.
          </EmptyState>
        }
      />
    </Panel>
  );
}

function holderName(tenant: Tenant, { type, id }: Quota['holder']): string {
  const project = tenant.projects.find((known) => known.id === id);
  return project ? `Project ${project.name}` : `${humanize(type)} ${shortId(id)}`;
}

function Used({ quota }: { quota: Quota }) {
  const percent = quota.limit > 0 ? Math.min(100, Math.round((quota.used / quota.limit) * 100)) : 100;
  return (
    <span className="flex w-36 flex-col gap-1">
      <span className="tabular-nums">
        {formatQuotaAmount(quota, quota.used)} of {formatQuotaAmount(quota, quota.limit)}
      </span>
      <ProgressBar
        label="Used"
        percent={percent}
        tone={percent >= 100 ? 'danger' : percent > 80 ? 'warn' : 'info'}
      />
    </span>
  );
}

function SetLimit({ tenant, quota }: { tenant: Tenant; quota: Quota }) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState(() => limitToInputValue(quota, quota.limit));
  const refusal = usePlatformDisabledReason('tenant_quota.manage');
  const change = useRefreshingMutation({
    mutationFn: setTenantQuota,
    refreshes: [operatorKeys.quotas(tenant.id)],
    onSuccess: () => setOpen(false),
  });
  const limit = typed.trim() === '' ? null : parseLimit(quota, typed);
  const wrong = typed.trim() !== '' && limit === null ? 'Enter a valid amount.' : null;
  return (
    <RowActions>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        Limit
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title={`${humanize(quota.measure)} quota for ${holderName(tenant, quota.holder)}`}
        submitLabel="Set"
        refusal={wrong}
        busy={change.isPending}
        error={change.error}
        onSubmit={() => change.mutate({ organizationId: tenant.id, quota, limit })}
      >
        <Field
          label={quota.unit ? `Maximum (${quota.unit})` : 'Limit'}
          value={typed}
          onChange={setTyped}
          refusal={wrong}
          hint="Applies to new launches; running machines are not affected. Leave empty to use the default."
        />
      </FormDialog>
    </RowActions>
  );
}
