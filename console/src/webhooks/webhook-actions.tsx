import { projectKeys } from '../api/query-keys.ts';
import { useProjectRefusal } from '../api/session.ts';
import type { Webhook } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { deleteWebhook, enableWebhook, rotateWebhookSecret, testWebhook } from '../api/webhooks.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { SecretDialog } from '../ui/secret-dialog.tsx';

export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const refusal = useProjectRefusal(webhook.project_id, 'webhook.manage');
  const refreshes = [projectKeys.webhooks(webhook.project_id), projectKeys.deliveries(webhook.id)];
  const test = useChange({ mutationFn: () => testWebhook(webhook.id), refreshes });
  const enable = useChange({ mutationFn: () => enableWebhook(webhook.id), refreshes });
  const rotate = useChange({ mutationFn: () => rotateWebhookSecret(webhook.id), refreshes });
  const remove = useChange({ mutationFn: () => deleteWebhook(webhook.id), refreshes });
  return (
    <RowActions>
      {webhook.state === 'disabled' ? (
        <Button size="sm" disabledReason={refusal} busy={enable.isPending} onClick={() => enable.mutate()}>
          Enable
        </Button>
      ) : (
        <Button size="sm" disabledReason={refusal} busy={test.isPending} onClick={() => test.mutate()}>
          Send a test
        </Button>
      )}
      <Button size="sm" disabledReason={refusal} busy={rotate.isPending} onClick={() => rotate.mutate()}>
        Rotate secret
      </Button>
      <ConfirmButton
        label="Delete"
        title="Delete the webhook?"
        confirmLabel="Delete"
        disabledReason={refusal}
        act={remove}
      >
        {webhook.url} is called no more, and the log of its deliveries is gone.
      </ConfirmButton>
      <SecretDialog
        secret={rotate.data?.secret ?? null}
        title="New signing secret"
        label="Signing secret"
        onClose={rotate.reset}
      >
        <p className="text-sm text-ink-muted">Calls carry both signatures until the old secret expires.</p>
      </SecretDialog>
    </RowActions>
  );
}
