import { projectKeys } from '../api/query-keys.ts';
import {
  deleteServiceAccount,
  disableServiceAccount,
  enableServiceAccount,
  rotateServiceAccountToken,
} from '../api/service-accounts.ts';
import { useProjectRefusal } from '../api/session.ts';
import type { ServiceAccount } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { SecretDialog } from '../ui/secret-dialog.tsx';

export function ServiceAccountActions({ account }: { account: ServiceAccount }) {
  const refusal = useProjectRefusal(account.project_id, 'service_account.manage');
  const refreshes = [projectKeys.serviceAccounts(account.project_id)];
  const rotate = useChange({ mutationFn: () => rotateServiceAccountToken(account.id), refreshes });
  const disable = useChange({ mutationFn: () => disableServiceAccount(account.id), refreshes });
  const enable = useChange({ mutationFn: () => enableServiceAccount(account.id), refreshes });
  const remove = useChange({ mutationFn: () => deleteServiceAccount(account.id), refreshes });
  return (
    <RowActions>
      <Button size="sm" disabledReason={refusal} busy={rotate.isPending} onClick={() => rotate.mutate()}>
        Rotate token
      </Button>
      {account.state === 'active' ? (
        <ConfirmButton
          label="Disable"
          variant="secondary"
          title={`Disable ${account.name}?`}
          confirmLabel="Disable"
          disabledReason={refusal}
          act={disable}
        >
          Its tokens are refused at once. What it launched goes on; it can be enabled again.
        </ConfirmButton>
      ) : (
        <Button size="sm" disabledReason={refusal} busy={enable.isPending} onClick={() => enable.mutate()}>
          Enable
        </Button>
      )}
      <ConfirmButton
        label="Delete"
        title={`Delete ${account.name}?`}
        confirmLabel="Delete"
        disabledReason={refusal}
        act={remove}
      >
        Its tokens stop working for good and its bindings are gone. What it launched goes on.
      </ConfirmButton>
      <SecretDialog
        secret={rotate.data?.token ?? null}
        title={`New token of ${account.name}`}
        label="Token"
        onClose={rotate.reset}
      >
        <p className="text-sm text-ink-muted">
          The token before it goes on working for a while, so that programs can change over.
        </p>
      </SecretDialog>
    </RowActions>
  );
}
