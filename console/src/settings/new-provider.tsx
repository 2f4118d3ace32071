import { useState } from 'react';
import { addProvider } from '../api/identity-providers.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationRefusal } from '../api/session.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';

const EMPTY = { name: '', issuer: '', client_id: '', client_secret: '' };

export function NewProvider({ organizationId }: { organizationId: string }) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState(EMPTY);
  const refusal = useOrganizationRefusal(organizationId, 'identity_provider.manage');
  const add = useChange({
    mutationFn: addProvider,
    refreshes: [organizationKeys.providers(organizationId)],
    onSuccess: () => {
      setOpen(false);
      setTyped(EMPTY);
    },
  });
  const field = (name: keyof typeof EMPTY) => ({
    value: typed[name],
    onChange: (value: string) => setTyped((old) => ({ ...old, [name]: value })),
  });
  const missing = Object.values(typed).every((value) => value.trim()) ? null : 'Fill in all of it.';
  return (
    <>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        Add a provider
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="Add an identity provider"
        submitLabel="Add"
        refusal={missing}
        busy={add.isPending}
        error={add.error}
        onSubmit={() => add.mutate({ organization_id: organizationId, ...typed })}
      >
        <Field label="Name" {...field('name')} maxLength={100} placeholder="Acme SSO" />
        <Field
          label="Issuer"
          {...field('issuer')}
          maxLength={500}
          placeholder="https://sso.acme.test"
          hint="Exactly as in its discovery document."
        />
        <Field label="Client id" {...field('client_id')} maxLength={200} />
        <Field
          label="Client secret"
          type="password"
          {...field('client_secret')}
          maxLength={500}
          hint="It is kept sealed and shown to nobody."
        />
      </FormDialog>
    </>
  );
}
