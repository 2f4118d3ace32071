import { useState } from 'react';
import { createApiKey } from '../api/own.ts';
import { ownKeys } from '../api/query-keys.ts';
import { useMe, useProject } from '../api/session.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { CopyLine } from '../ui/copy-line.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { SecretDialog } from '../ui/secret-dialog.tsx';
import { Select } from '../ui/select.tsx';

const DAY_MS = 86_400_000;
const LIFETIMES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
  { value: 'never', label: 'Until it is revoked' },
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
  const make = useChange({
    mutationFn: createApiKey,
    refreshes: [ownKeys.apiKeys],
    onSuccess: (answer) => {
      setOpen(false);
      setName('');
      setSecret(answer.secret);
    },
  });
  const places = [
    ...(me?.organizations ?? []).map(({ id, name }) => ({ value: id, label: name })),
    ...(me?.platform_permissions.length ? [{ value: PLATFORM, label: 'The platform, as operator' }] : []),
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
        submitLabel="Make key"
        refusal={name.trim() ? null : 'Give the key a name.'}
        busy={make.isPending}
        error={make.error}
        onSubmit={submit}
      >
        <Field label="Name" value={name} onChange={setName} maxLength={64} placeholder="laptop" />
        <div className="flex flex-col gap-1.5">
          <Select
            label="Good for"
            value={days}
            onChange={setDays}
            options={LIFETIMES.map((lifetime) => ({ ...lifetime }))}
          />
        </div>
        <div className="flex flex-col gap-1.5">
          <Select label="Where it works" value={where} onChange={setWhere} options={places} />
        </div>
      </FormDialog>
      <SecretDialog secret={secret} title="Your new API key" label="API key" onClose={() => setSecret(null)}>
        <p className="text-sm text-ink-muted">On the command line:</p>
        <CopyLine label="Command" value={'read -rs GPUAAS_API_KEY && export GPUAAS_API_KEY\ngpuaas me'} />
      </SecretDialog>
    </>
  );
}
