import { useInfiniteQuery } from '@tanstack/react-query';
import { PiggyBank } from 'lucide-react';
import { budgetsQuery, deleteBudget } from '../api/budgets.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationRefusal, type ProjectChoice } from '../api/session.ts';
import type { Budget } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { formatMoney } from '../format/money.ts';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { AT_CAP } from './at-cap.ts';
import { NewBudget } from './new-budget.tsx';
import { useBudgetScopes } from './use-budget-scopes.ts';

type Organization = ProjectChoice['organization'];

/** What may be spent in a month, how much of it is, and what happens at the end of it. */
export function BudgetsPanel({ organization }: { organization: Organization }) {
  const query = useInfiniteQuery(budgetsQuery(organization.id));
  const scopes = useBudgetScopes(organization);
  const columns: Column<Budget>[] = [
    {
      header: 'Of',
      cell: ({ scope_id: id, scope_type: type }) => (
        <span className="font-medium">{scopes.find((scope) => scope.id === id)?.label ?? type}</span>
      ),
    },
    { header: 'Spent this month', cell: (budget) => <Spent budget={budget} /> },
    {
      header: 'At the cap',
      cell: ({ at_cap: atCap }) => <span className="text-ink-muted">{AT_CAP[atCap].label}</span>,
      from: 'md',
    },
    {
      header: 'Told at',
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
          <EmptyState icon={PiggyBank} title="There is no budget">
            Set one for the organization, a project, a team or a person, and say what happens when it is used
            up.
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
  const refusal = useOrganizationRefusal(budget.organization_id, 'budget.manage');
  const remove = useChange({
    mutationFn: () => deleteBudget(budget.id),
    refreshes: [organizationKeys.budgets(budget.organization_id)],
  });
  return (
    <RowActions>
      <ConfirmButton
        label="Delete"
        title="Do without this budget?"
        confirmLabel="Delete"
        disabledReason={refusal}
        act={remove}
      >
        Nobody is told any more, and nothing is refused or released because of it.
      </ConfirmButton>
    </RowActions>
  );
}
