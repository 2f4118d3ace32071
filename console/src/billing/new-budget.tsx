import { useState } from 'react';
import { setBudget } from '../api/budgets.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationRefusal, type ProjectChoice } from '../api/session.ts';
import type { Budget } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { microsOf } from '../format/money.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';
import { AT_CAP } from './at-cap.ts';
import type { BudgetScope } from './use-budget-scopes.ts';

interface NewBudgetProps {
  organization: ProjectChoice['organization'];
  scopes: BudgetScope[];
}

/** Percentages at which people are told, unless they want others. */
const USUAL_THRESHOLDS = [50, 80, 100];

export function NewBudget({ organization, scopes }: NewBudgetProps) {
  const [open, setOpen] = useState(false);
  const [scopeId, setScopeId] = useState(organization.id);
  const [amount, setAmount] = useState('');
  const [atCap, setAtCap] = useState<Budget['at_cap']>('notify');
  const refusal = useOrganizationRefusal(organization.id, 'budget.manage');
  const set = useChange({
    mutationFn: setBudget,
    refreshes: [organizationKeys.budgets(organization.id)],
    onSuccess: () => setOpen(false),
  });
  const scope = scopes.find(({ id }) => id === scopeId);
  const micros = microsOf(amount);
  const missing = micros === null || micros <= 0 ? 'Say how much a month.' : scope ? null : 'Choose whose.';
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
            label="Of"
            value={scopeId}
            onChange={setScopeId}
            options={scopes.map(({ id, label }) => ({ value: id, label }))}
          />
        </div>
        <Field
          label="USD a month"
          value={amount}
          onChange={setAmount}
          placeholder="5000"
          hint={`People are told at ${USUAL_THRESHOLDS.join(', ')} percent.`}
        />
        <div className="flex flex-col gap-1.5">
          <Select
            label="When it is used up"
            value={atCap}
            onChange={setAtCap}
            options={(Object.keys(AT_CAP) as Budget['at_cap'][]).map((value) => ({
              value,
              ...AT_CAP[value],
            }))}
          />
        </div>
      </FormDialog>
    </>
  );
}
