import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Scale } from 'lucide-react';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import { setTenantQuota, tenantQuotasQuery } from '../api/tenants.ts';
import type { Quota, Tenant } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { inWords, shortId } from '../format/words.ts';
import { Button } from '../ui/button.tsx';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { limitOfTyped, quotaAmount, typedOfLimit } from './quota-amounts.ts';

/** What projects and people of a tenant hold, of what they may. */
export function QuotasPanel({ tenant }: { tenant: Tenant }) {
  const query = useInfiniteQuery(tenantQuotasQuery(tenant.id));
  const columns: Column<Quota>[] = [
    {
      header: 'Whose and what',
      cell: ({ holder, measure, unit }) => (
        <span className="flex flex-col">
          <span className="font-medium">{holderName(tenant, holder)}</span>
          <span className="text-xs text-ink-faint">
            {inWords(measure)}
            {unit ? `, ${unit}` : ''}
          </span>
        </span>
      ),
    },
    { header: 'Used', cell: (quota) => <Used quota={quota} /> },
    {
      header: 'Set by',
      cell: ({ limit_set_by: by }) => <span className="text-ink-muted">{inWords(by)}</span>,
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
          <EmptyState icon={Scale} title="Nobody holds anything">
            Quotas appear with the projects and members of the tenant.
          </EmptyState>
        }
      />
    </Panel>
  );
}

function holderName(tenant: Tenant, { type, id }: Quota['holder']): string {
  const project = tenant.projects.find((known) => known.id === id);
  return project ? `Project ${project.name}` : `${inWords(type)} ${shortId(id)}`;
}

function Used({ quota }: { quota: Quota }) {
  const percent = quota.limit > 0 ? Math.min(100, Math.round((quota.used / quota.limit) * 100)) : 100;
  return (
    <span className="flex w-36 flex-col gap-1">
      <span className="tabular-nums">
        {quotaAmount(quota, quota.used)} of {quotaAmount(quota, quota.limit)}
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
  const [typed, setTyped] = useState(() => typedOfLimit(quota, quota.limit));
  const refusal = usePlatformRefusal('tenant_quota.manage');
  const change = useChange({
    mutationFn: setTenantQuota,
    refreshes: [operatorKeys.quotas(tenant.id)],
    onSuccess: () => setOpen(false),
  });
  const limit = typed.trim() === '' ? null : limitOfTyped(quota, typed);
  const wrong = typed.trim() !== '' && limit === null ? 'That is no amount.' : null;
  return (
    <RowActions>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        Limit
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title={`Limit ${inWords(quota.measure).toLowerCase()} of ${holderName(tenant, quota.holder)}`}
        submitLabel="Set"
        refusal={wrong}
        busy={change.isPending}
        error={change.error}
        onSubmit={() => change.mutate({ organizationId: tenant.id, quota, limit })}
      >
        <Field
          label={quota.unit ? `Limit in ${quota.unit}` : 'Limit'}
          value={typed}
          onChange={setTyped}
          refusal={wrong}
          hint="It acts on the next launch; nothing that runs is ended. Empty takes it back, and the policy holds again."
        />
      </FormDialog>
    </RowActions>
  );
}
