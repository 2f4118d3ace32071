import { useState } from 'react';
import { setPolicy, unsetPolicy } from '../api/policies.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { Policy, PolicyValue } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Field } from '../ui/field.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { Select } from '../ui/select.tsx';
import { readValue, sayValue, valueRefusal } from './policy-value.ts';

interface EditPolicyProps {
  policy: Policy;
  tenant: string | undefined;
}

export function EditPolicy({ policy, tenant }: EditPolicyProps) {
  const [typed, setTyped] = useState(asTyped(policy.value));
  const [reason, setReason] = useState('');
  const permission = usePlatformRefusal('policy.manage');
  const refreshes = [operatorKeys.policies];
  const save = useChange({ mutationFn: setPolicy, refreshes, onSuccess: () => setReason('') });
  const unset = useChange({
    mutationFn: () => unsetPolicy({ name: policy.name, organizationId: tenant }),
    refreshes,
  });
  const bounds = valueRefusal(policy, typed);
  const refusal = permission ?? (policy.settable ? bounds : 'This key cannot be set at this scope.');
  const unsetRefusal = permission ?? (policy.set_value === null ? 'It is not set here.' : null);
  const submit = () => {
    const value = readValue(policy, typed);
    if (refusal || value === null) return;
    save.mutate({ name: policy.name, organizationId: tenant, value, reason: reason.trim() });
  };
  return (
    <Panel title={tenant ? 'Set for the tenant' : 'Set for the platform'}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <ValueField policy={policy} typed={typed} onType={setTyped} refusal={bounds} />
        <Field label="Reason" optional value={reason} onChange={setReason} maxLength={500} />
        {save.error && <ProblemNotice error={save.error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <ConfirmButton
            label="Unset"
            size="md"
            title={`Unset ${policy.name}?`}
            confirmLabel="Unset"
            disabledReason={unsetRefusal}
            act={unset}
          >
            The value {policy.set_value !== null && sayValue(policy, policy.set_value)} is taken away here;
            what the scope above says holds again at once.
          </ConfirmButton>
          <Button type="submit" variant="primary" busy={save.isPending} disabledReason={refusal}>
            Set
          </Button>
        </div>
      </form>
    </Panel>
  );
}

interface ValueFieldProps {
  policy: Policy;
  typed: string;
  onType: (typed: string) => void;
  refusal: string | null;
}

function ValueField({ policy, typed, onType, refusal }: ValueFieldProps) {
  const choices =
    policy.type === 'boolean' ? ['true', 'false'] : policy.type === 'string' ? policy.values : null;
  if (choices) {
    return (
      <div className="flex flex-col gap-1.5">
        <Select
          label="Value"
          value={typed}
          onChange={onType}
          options={choices.map((choice) => ({ value: choice, label: wordOf(policy, choice) }))}
        />
      </div>
    );
  }
  const value = readValue(policy, typed);
  return (
    <Field
      label={policy.type === 'duration' ? 'Value in seconds' : 'Value'}
      value={typed}
      onChange={onType}
      refusal={refusal}
      hint={value === null ? undefined : sayValue(policy, value)}
    />
  );
}

function wordOf(policy: Policy, choice: string): string {
  return policy.type === 'boolean' ? sayValue(policy, choice === 'true') : choice;
}

function asTyped(value: PolicyValue): string {
  return Array.isArray(value) ? value.join(', ') : String(value);
}
