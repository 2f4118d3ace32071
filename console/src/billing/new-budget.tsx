import { useState } from 'react';
import { setBudget } from '../api/billing/budgets.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationDisabledReason, type ProjectChoice } from '../api/me.ts';
import type { Budget } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { parseMicros } from '../format/money.ts';
import { Button } from '../ui/actions/button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { Select } from '../ui/forms/select.tsx';
import { CAP_ACTION_LABELS } from './cap-actions.ts';
import type { BudgetScope } from './use-budget-scopes.ts';
import { keysOf } from '../typed-keys.ts';

interface NewBudgetProps {
  organization: ProjectChoice['organization'];
  scopes: BudgetScope[];
}

/** Default percentages for alerts. */
const USUAL_THRESHOLDS = [50, 80, 100];

export function NewBudget({ organization, scopes }: NewBudgetProps) {
  const [open, setOpen] = useState(false);
  const [scopeId, setScopeId] = useState(organization.id);
  const [amount, setAmount] = useState('');
  const [atCap, setAtCap] = useState<Budget['at_cap']>('notify');
  const refusal = useOrganizationDisabledReason(organization.id, 'budget.manage');
  const set = useRefreshingMutation({
    mutationFn: setBudget,
    refreshes: [organizationKeys.budgets(organization.id)],
    onSuccess: () => setOpen(false),
  });
  const scope = scopes.find(({ id }) => id === scopeId);
  const micros = parseMicros(amount);
  const missing =
    micros === null || micros <= 0 ? 'Enter a monthly limit.' : scope ? null : 'Choose a scope.';
  const submit = () => {
    if (!scope || micros === null) return;
    set.mutate({
      organization_id: organization.id,
      scope_type: scope.type,
      scope_id: scope.id,
      monthly: { currency: 'USD', micros },
      thresholds: USUAL_THRESHOLDS,
      at_cap: atCap,
    });
  };
  return (
    <>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        Set a budget
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="Set a budget"
        submitLabel="Set"
        refusal={missing}
        busy={set.isPending}
        error={set.error}
        onSubmit={submit}
      >
        <div className="flex flex-col gap-1.5">
          <Select
            label="Scope"
            value={scopeId}
            onChange={setScopeId}
            options={scopes.map(({ id, label }) => ({ value: id, label }))}
          />
        </div>
        <Field
          label="Monthly limit (USD)"
          value={amount}
          onChange={setAmount}
          placeholder="5000"
          hint={`Alerts at ${USUAL_THRESHOLDS.join(', ')} percent.`}
        />
        <div className="flex flex-col gap-1.5">
          <Select
            label="When the limit is reached"
            value={atCap}
            onChange={setAtCap}
            options={keysOf(CAP_ACTION_LABELS).map((value) => ({
              value,
              ...CAP_ACTION_LABELS[value],
            }))}
          />
        </div>
      </FormDialog>
    </>
  );
}
