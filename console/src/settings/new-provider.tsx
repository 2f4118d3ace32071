import { useState } from 'react';
import { addProvider } from '../api/organization/identity-providers.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationDisabledReason } from '../api/me.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';

const EMPTY = { name: '', issuer: '', client_id: '', client_secret: '' };

export function NewProvider({ organizationId }: { organizationId: string }) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState(EMPTY);
  const refusal = useOrganizationDisabledReason(organizationId, 'identity_provider.manage');
  const add = useRefreshingMutation({
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
  const missing = Object.values(typed).every((value) => value.trim()) ? null : 'Fill in all fields.';
  return (
    <>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        Add provider
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
          hint="Exactly as in the discovery document."
        />
        <Field label="Client id" {...field('client_id')} maxLength={200} />
        <Field
          label="Client secret"
          type="password"
          {...field('client_secret')}
          maxLength={500}
          hint="Stored encrypted. Write-only"
        />
      </FormDialog>
    </>
  );
}
