import { useState } from 'react';
import { createShareLink } from '../../api/apps/sharing.ts';
import { appKeys } from '../../api/query-keys.ts';
import { useRefreshingMutation } from '../../api/use-refreshing-mutation.ts';
import { Button } from '../../ui/actions/button.tsx';
import { Field } from '../../ui/forms/field.tsx';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { SecretDialog } from '../../ui/forms/secret-dialog.tsx';
import { Select } from '../../ui/forms/select.tsx';

const LIVES = [
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
];

/** Makes a link that opens the app without signing in. */
export function NewShareLink({ instanceId, refusal }: { instanceId: string; refusal: string | null }) {
  const [open, setOpen] = useState(false);
  const [seconds, setSeconds] = useState('86400');
  const [note, setNote] = useState('');
  const [url, setUrl] = useState<string | null>(null);
  const make = useRefreshingMutation({
    mutationFn: createShareLink,
    refreshes: [appKeys.shareLinks(instanceId)],
    onSuccess: (made) => {
      setOpen(false);
      setNote('');
      setUrl(made.url);
    },
  });
  return (
    <>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        New link
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="New share link"
        submitLabel="Make link"
        busy={make.isPending}
        error={make.error}
        onSubmit={() => make.mutate({ id: instanceId, seconds: Number(seconds), note })}
      >
        <div className="flex flex-col gap-1.5">
          <Select label="Works for" value={seconds} onChange={setSeconds} options={LIVES} />
        </div>
        <Field
          label="Note"
          optional
          value={note}
          onChange={setNote}
          maxLength={100}
          hint="Whom it is for. Everybody who has the link can open the app."
        />
      </FormDialog>
      <SecretDialog secret={url} title="Share link" label="share link" onClose={() => setUrl(null)} />
    </>
  );
}
