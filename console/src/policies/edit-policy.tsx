import { useState } from 'react';
import { setPolicy, unsetPolicy } from '../api/operations/policies.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import type { Policy, PolicyValue } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { BeforeAfter } from '../ui/forms/before-after.tsx';
import { ConfirmDialog } from '../ui/forms/confirm-dialog.tsx';
import { Field } from '../ui/forms/field.tsx';
import { Panel } from '../ui/panel.tsx';
import { Select } from '../ui/forms/select.tsx';
import { parsePolicyValue, formatPolicyValue, policyValueError } from './policy-value.ts';

interface EditPolicyProps {
  policy: Policy;
  tenant: string | undefined;
}

export function EditPolicy({ policy, tenant }: EditPolicyProps) {
  const [typed, setTyped] = useState(asTyped(policy.value));
  const [reason, setReason] = useState('');
  const [reviewing, setReviewing] = useState(false);
  const permission = usePlatformDisabledReason('policy.manage');
  const refreshes = [operatorKeys.policies];
  const save = useRefreshingMutation({
    mutationFn: setPolicy,
    refreshes,
    onSuccess: () => {
      setReason('');
      setReviewing(false);
    },
  });
  const unset = useRefreshingMutation({
    mutationFn: () => unsetPolicy({ name: policy.name, organizationId: tenant }),
    refreshes,
  });
  const bounds = policyValueError(policy, typed);
  const refusal = permission ?? (policy.settable ? bounds : 'This policy cannot be set at this scope.');
  const unsetRefusal = permission ?? (policy.set_value === null ? 'Not set at this scope.' : null);
  const submit = () => {
    const value = parsePolicyValue(policy, typed);
    if (refusal || value === null) return;
    save.mutate({ name: policy.name, organizationId: tenant, value, reason: reason.trim() });
  };
  const next = parsePolicyValue(policy, typed);
  return (
    <Panel title={tenant ? 'Set for the tenant' : 'Set for the platform'}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!refusal) setReviewing(true);
        }}
      >
        <ValueField policy={policy} typed={typed} onType={setTyped} refusal={bounds} />
        <Field label="Reason" optional value={reason} onChange={setReason} maxLength={500} />
        <div className="flex flex-wrap justify-end gap-2">
          <ConfirmButton
            label="Reset"
            size="md"
            title={`Reset ${policy.name}?`}
            confirmLabel="Reset"
            disabledReason={unsetRefusal}
            act={unset}
          >
            The value {policy.set_value !== null && formatPolicyValue(policy, policy.set_value)} is removed.
            The value of the higher scope applies immediately.
          </ConfirmButton>
          <Button type="submit" variant="primary" busy={save.isPending} disabledReason={refusal}>
            Set
          </Button>
        </div>
      </form>
      <ConfirmDialog
        open={reviewing}
        onClose={() => {
          setReviewing(false);
          save.reset();
        }}
        title={`Set ${policy.name}?`}
        confirmLabel="Set"
        onConfirm={submit}
        busy={save.isPending}
        error={save.error}
      >
        <BeforeAfter
          before={formatPolicyValue(policy, policy.value)}
          after={next === null ? '' : formatPolicyValue(policy, next)}
          effects={[
            policy.doc,
            tenant
              ? 'Applies immediately to this tenant and its projects.'
              : 'Applies immediately to every tenant and project without its own value.',
          ]}
        />
      </ConfirmDialog>
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
  const value = parsePolicyValue(policy, typed);
  return (
    <Field
      label={policy.type === 'duration' ? 'Value in seconds' : 'Value'}
      value={typed}
      onChange={onType}
      refusal={refusal}
      hint={value === null ? undefined : formatPolicyValue(policy, value)}
    />
  );
}

function wordOf(policy: Policy, choice: string): string {
  return policy.type === 'boolean' ? formatPolicyValue(policy, choice === 'true') : choice;
}

function asTyped(value: PolicyValue): string {
  return Array.isArray(value) ? value.join(', ') : String(value);
}
