import { useInfiniteQuery } from '@tanstack/react-query';
import { PiggyBank } from 'lucide-react';
import { budgetsQuery, deleteBudget } from '../api/billing/budgets.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationDisabledReason, type ProjectChoice } from '../api/me.ts';
import type { Budget } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { formatMoney } from '../format/money.ts';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProgressBar } from '../ui/charts/progress-bar.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { CAP_ACTION_LABELS } from './cap-actions.ts';
import { NewBudget } from './new-budget.tsx';
import { useBudgetScopes } from './use-budget-scopes.ts';

type Organization = ProjectChoice['organization'];

/** Monthly limits, their current spend, and the action at the limit. */
export function BudgetsPanel({ organization }: { organization: Organization }) {
  const query = useInfiniteQuery(budgetsQuery(organization.id));
  const scopes = useBudgetScopes(organization);
  const columns: Column<Budget>[] = [
    {
      header: 'Scope',
      cell: ({ scope_id: id, scope_type: type }) => (
        <span className="font-medium">{scopes.find((scope) => scope.id === id)?.label ?? type}</span>
      ),
    },
    { header: 'Spent this month', cell: (budget) => <Spent budget={budget} /> },
    {
      header: 'When the limit is reached',
      cell: ({ at_cap: atCap }) => <span className="text-ink-muted">{CAP_ACTION_LABELS[atCap].label}</span>,
      from: 'md',
    },
    {
      header: 'Alerts at',
      cell: ({ thresholds }) => (
        <span className="text-ink-muted">{thresholds.map((one) => `${one}%`).join(', ') || 'Never'}</span>
      ),
      from: 'lg',
    },
    { header: 'Actions', cell: (budget) => <Remove budget={budget} />, align: 'right' },
  ];
  return (
    <Panel title="Budgets" flush aside={<NewBudget organization={organization} scopes={scopes} />}>
      <ResourceList
        label="Budgets"
        query={query}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={PiggyBank} title="No budgets yet">
            Set a monthly limit for the organization, a project, a team or a user.
          </EmptyState>
        }
      />
    </Panel>
  );
}

function Spent({ budget: { spent, monthly } }: { budget: Budget }) {
  const percent = Math.min(100, Math.round((spent.micros / monthly.micros) * 100));
  return (
    <span className="flex w-40 flex-col gap-1">
      <span className="tabular-nums">
        {formatMoney(spent, 2)} of {formatMoney(monthly, 2)}
      </span>
      <ProgressBar
        label="Spent"
        percent={percent}
        tone={percent >= 100 ? 'danger' : percent >= 80 ? 'warn' : 'info'}
      />
    </span>
  );
}

function Remove({ budget }: { budget: Budget }) {
  const refusal = useOrganizationDisabledReason(budget.organization_id, 'budget.manage');
  const remove = useRefreshingMutation({
    mutationFn: () => deleteBudget(budget.id),
    refreshes: [organizationKeys.budgets(budget.organization_id)],
  });
  return (
    <RowActions>
      <ConfirmButton
        label="Delete"
        title="Delete this budget?"
        confirmLabel="Delete"
        disabledReason={refusal}
        act={remove}
      >
        Alerts and limits of this budget no longer apply.
      </ConfirmButton>
    </RowActions>
  );
}
