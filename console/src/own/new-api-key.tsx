import { useState } from 'react';
import { createApiKey } from '../api/account/own.ts';
import { userKeys } from '../api/query-keys.ts';
import { useMe, useProject } from '../api/me.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { CopyLine } from '../ui/actions/copy-line.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { SecretDialog } from '../ui/forms/secret-dialog.tsx';
import { Select } from '../ui/forms/select.tsx';

const DAY_MS = 86_400_000;
const LIFETIMES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: 'never', label: 'No expiry' },
] as const;

const PLATFORM = 'platform';

export function NewApiKey() {
  const me = useMe();
  const choice = useProject();
  const [open, setOpen] = useState(false);
  const [name, setName] = useState('');
  const [days, setDays] = useState<(typeof LIFETIMES)[number]['value']>('90');
  const [where, setWhere] = useState(choice?.organization.id ?? PLATFORM);
  const [secret, setSecret] = useState<string | null>(null);
  const make = useRefreshingMutation({
    mutationFn: createApiKey,
    refreshes: [userKeys.apiKeys],
    onSuccess: (answer) => {
      setOpen(false);
      setName('');
      setSecret(answer.secret);
    },
  });
  const places = [
    ...(me?.organizations ?? []).map(({ id, name }) => ({ value: id, label: name })),
    ...(me?.platform_permissions.length ? [{ value: PLATFORM, label: 'Platform (operator)' }] : []),
  ];
  const submit = () =>
    make.mutate({
      name,
      ...(where === PLATFORM ? {} : { organization_id: where }),
      ...(days === 'never' ? {} : { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
    });
  return (
    <>
      <Button variant="primary" onClick={() => setOpen(true)}>
        New API key
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="New API key"
        submitLabel="Create key"
        refusal={name.trim() ? null : 'Enter a name.'}
        busy={make.isPending}
        error={make.error}
        onSubmit={submit}
      >
        <Field label="Name" value={name} onChange={setName} maxLength={64} placeholder="laptop" />
        <div className="flex flex-col gap-1.5">
          <Select
            label="Expires after"
            value={days}
            onChange={setDays}
            options={LIFETIMES.map((lifetime) => ({ ...lifetime }))}
          />
        </div>
        <div className="flex flex-col gap-1.5">
          <Select label="Scope" value={where} onChange={setWhere} options={places} />
        </div>
      </FormDialog>
      <SecretDialog secret={secret} title="Your new API key" label="API key" onClose={() => setSecret(null)}>
        <p className="text-sm text-ink-muted">On the command line:</p>
        <CopyLine label="Command" value={'read -rs GPUAAS_API_KEY && export GPUAAS_API_KEY\ngpuaas me'} />
      </SecretDialog>
    </>
  );
}
