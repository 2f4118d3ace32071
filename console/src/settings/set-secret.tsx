import { useState } from 'react';
import { useProjectDisabledReason } from '../api/me.ts';
import { setSecret } from '../api/organization/project-secrets.ts';
import { projectKeys } from '../api/query-keys.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';

const NAME = /^[A-Z][A-Z0-9_]{0,63}$/;
const MAX_BYTES = 32_768;

function nameRefusal(name: string): string | null {
  return name === '' || NAME.test(name)
    ? null
    : 'Use capital letters, digits and _, beginning with a letter.';
}

function valueRefusal(value: string): string | null {
  return new TextEncoder().encode(value).length > MAX_BYTES ? 'A value is limited to 32 KiB.' : null;
}

interface SetSecretProps {
  projectId: string;
  /** The secret to replace; without it a new one is made. */
  name?: string;
}

/** Dialog for a new secret, or for the next value of one. */
export function SetSecret({ projectId, name: given }: SetSecretProps) {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const refusal = useProjectDisabledReason(projectId, 'project_secret.write');
  const close = () => {
    setOpen(false);
    setName('');
    setValue('');
  };
  const set = useRefreshingMutation({
    mutationFn: setSecret,
    refreshes: [projectKeys.secrets(projectId)],
    onSuccess: close,
  });
  const chosen = given ?? name;
  const missing = chosen === '' || value === '' ? 'Enter a name and a value.' : null;
  return (
    <>
      <Button
        size="sm"
        disabledReason={refusal}
        onClick={() => {
          set.reset();
          setOpen(true);
        }}
      >
        {given ? 'Replace' : 'New secret'}
      </Button>
      <FormDialog
        open={open}
        onClose={close}
        title={given ? `Replace ${given}` : 'New secret'}
        submitLabel={given ? 'Replace secret' : 'Set secret'}
        refusal={missing ?? nameRefusal(chosen) ?? valueRefusal(value)}
        busy={set.isPending}
        error={set.error}
        onSubmit={() => set.mutate({ projectId, name: chosen, value })}
      >
        {!given && (
          <Field
            label="Name"
            value={name}
            onChange={setName}
            maxLength={64}
            placeholder="HF_TOKEN"
            refusal={nameRefusal(name)}
            hint="A name in use gets the new value."
          />
        )}
        <Field
          label="Value"
          type="password"
          rows={3}
          value={value}
          onChange={setValue}
          refusal={valueRefusal(value)}
          hint="Stored encrypted. Nobody can read it again."
        />
      </FormDialog>
    </>
  );
}
