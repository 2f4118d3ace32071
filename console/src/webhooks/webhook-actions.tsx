import { projectKeys } from '../api/query-keys.ts';
import { useProjectDisabledReason } from '../api/me.ts';
import type { Webhook } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import {
  deleteWebhook,
  enableWebhook,
  rotateWebhookSecret,
  testWebhook,
} from '../api/organization/webhooks.ts';
import { Button } from '../ui/actions/button.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { SecretDialog } from '../ui/forms/secret-dialog.tsx';

export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const refusal = useProjectDisabledReason(webhook.project_id, 'webhook.manage');
  const refreshes = [projectKeys.webhooks(webhook.project_id), projectKeys.deliveries(webhook.id)];
  const test = useRefreshingMutation({ mutationFn: () => testWebhook(webhook.id), refreshes });
  const enable = useRefreshingMutation({ mutationFn: () => enableWebhook(webhook.id), refreshes });
  const rotate = useRefreshingMutation({ mutationFn: () => rotateWebhookSecret(webhook.id), refreshes });
  const remove = useRefreshingMutation({ mutationFn: () => deleteWebhook(webhook.id), refreshes });
  return (
    <RowActions>
      {test.error && <span className="tone-danger text-xs text-tone-text">{test.error.message}</span>}
      {test.isSuccess && (
        <span role="status" className="text-xs text-ink-muted">
          Test sent; open the address to see the response
        </span>
      )}
      {webhook.state === 'disabled' ? (
        <Button size="sm" disabledReason={refusal} busy={enable.isPending} onClick={() => enable.mutate()}>
          Enable
        </Button>
      ) : (
        <Button size="sm" disabledReason={refusal} busy={test.isPending} onClick={() => test.mutate()}>
          Send a test
        </Button>
      )}
      <ConfirmButton
        label="Rotate secret"
        variant="secondary"
        title="Rotate the signing secret?"
        confirmLabel="Rotate secret"
        disabledReason={refusal}
        act={rotate}
      >
        A new secret is shown once. Calls are signed with both secrets until the old one expires; the receiver
        must know the new one by then.
      </ConfirmButton>
      <ConfirmButton
        label="Delete"
        title="Delete the webhook?"
        confirmLabel="Delete"
        disabledReason={refusal}
        act={remove}
      >
        {webhook.url} stops receiving events, and its delivery log is deleted.
      </ConfirmButton>
      <SecretDialog
        secret={rotate.data?.secret ?? null}
        title="New signing secret"
        label="Signing secret"
        onClose={rotate.reset}
      >
        <p className="text-sm text-ink-muted">
          Calls are signed with both secrets until the old one expires.
        </p>
      </SecretDialog>
    </RowActions>
  );
}
