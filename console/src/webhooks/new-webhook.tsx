import { useState } from 'react';
import { projectKeys } from '../api/query-keys.ts';
import { useProjectDisabledReason } from '../api/me.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { createWebhook } from '../api/organization/webhooks.ts';
import { Button } from '../ui/actions/button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { SecretDialog } from '../ui/forms/secret-dialog.tsx';

export function NewWebhook({ projectId }: { projectId: string }) {
  const [open, setOpen] = useState(false);
  const [url, setUrl] = useState('');
  const [types, setTypes] = useState('');
  const [secret, setSecret] = useState<string | null>(null);
  const refusal = useProjectDisabledReason(projectId, 'webhook.manage');
  const make = useRefreshingMutation({
    mutationFn: createWebhook,
    refreshes: [projectKeys.webhooks(projectId)],
    onSuccess: (answer) => {
      setOpen(false);
      setUrl('');
      setTypes('');
      setSecret(answer.secret);
    },
  });
  const eventTypes = types.split(/[\s,]+/).filter(Boolean);
  return (
    <>
      <Button variant="primary" disabledReason={refusal} onClick={() => setOpen(true)}>
        New webhook
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title="New webhook"
        submitLabel="Add webhook"
        refusal={URL.canParse(url) ? null : 'Enter a URL.'}
        busy={make.isPending}
        error={make.error}
        onSubmit={() =>
          make.mutate({
            project_id: projectId,
            url,
            ...(eventTypes.length > 0 ? { event_types: eventTypes } : {}),
          })
        }
      >
        <Field
          label="Address"
          type="url"
          value={url}
          onChange={setUrl}
          maxLength={2000}
          placeholder="https://example.com/hooks/gpuaas"
        />
        <Field
          label="Events"
          optional
          value={types}
          onChange={setTypes}
          placeholder="allocation.active, allocation.failed"
          hint="Leave empty to send all events of the project."
        />
      </FormDialog>
      <SecretDialog
        secret={secret}
        title="Signing secret of the webhook"
        label="Signing secret"
        onClose={() => setSecret(null)}
      >
        <p className="text-sm text-ink-muted">Use it to verify the signature of each call.</p>
      </SecretDialog>
    </>
  );
}
