import { projectKeys } from '../api/query-keys.ts';
import {
  deleteServiceAccount,
  disableServiceAccount,
  enableServiceAccount,
  rotateServiceAccountToken,
} from '../api/organization/service-accounts.ts';
import { useProjectDisabledReason } from '../api/me.ts';
import type { ServiceAccount } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { EnableOrDisable } from './enable-or-disable.tsx';
import { SecretDialog } from '../ui/forms/secret-dialog.tsx';

export function ServiceAccountActions({ account }: { account: ServiceAccount }) {
  const refusal = useProjectDisabledReason(account.project_id, 'service_account.manage');
  const refreshes = [projectKeys.serviceAccounts(account.project_id)];
  const rotate = useRefreshingMutation({
    mutationFn: () => rotateServiceAccountToken(account.id),
    refreshes,
  });
  const disable = useRefreshingMutation({ mutationFn: () => disableServiceAccount(account.id), refreshes });
  const enable = useRefreshingMutation({ mutationFn: () => enableServiceAccount(account.id), refreshes });
  const remove = useRefreshingMutation({ mutationFn: () => deleteServiceAccount(account.id), refreshes });
  return (
    <RowActions>
      <ConfirmButton
        label="Rotate token"
        variant="secondary"
        title={`Rotate the token of ${account.name}?`}
        confirmLabel="Rotate token"
        disabledReason={refusal}
        act={rotate}
      >
        A new token is shown once. The previous token keeps working for a while, then stops.
      </ConfirmButton>
      <EnableOrDisable
        name={account.name}
        isActive={account.state === 'active'}
        refusal={refusal}
        disable={disable}
        enable={enable}
      >
        Its tokens stop working immediately. Its allocations keep running, and it can be enabled again.
      </EnableOrDisable>
      <ConfirmButton
        label="Delete"
        title={`Delete ${account.name}?`}
        confirmLabel="Delete"
        disabledReason={refusal}
        act={remove}
      >
        Its tokens stop working permanently and its permission groups are removed. Its allocations keep
        running.
      </ConfirmButton>
      <SecretDialog
        secret={rotate.data?.token ?? null}
        title={`New token of ${account.name}`}
        label="Token"
        onClose={rotate.reset}
      >
        <p className="text-sm text-ink-muted">
          The previous token keeps working for a while so that you can switch over.
        </p>
      </SecretDialog>
    </RowActions>
  );
}
