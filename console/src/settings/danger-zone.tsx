import { useOrganizationDisabledReason, type ProjectChoice } from '../api/me.ts';
import { deleteOrganization, leaveOrganization } from '../api/organization/settings.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { Panel } from '../ui/panel.tsx';

/** Leaving or deleting the organization. Navigates away afterwards, because the page is out of date. */
export function DangerZone({ organization: { id, name } }: Pick<ProjectChoice, 'organization'>) {
  const refusal = useOrganizationDisabledReason(id, 'organization.manage');
  const toStart = () => location.assign('/');
  const leave = useRefreshingMutation({
    mutationFn: () => leaveOrganization(id),
    refreshes: [],
    onSuccess: toStart,
  });
  const remove = useRefreshingMutation({
    mutationFn: () => deleteOrganization(id),
    refreshes: [],
    onSuccess: toStart,
  });
  return (
    <Panel title="Danger zone">
      <div className="flex flex-wrap gap-3">
        <ConfirmButton
          label="Leave the organization"
          size="md"
          variant="secondary"
          title={`Leave ${name}?`}
          confirmLabel="Leave"
          act={leave}
        >
          Your API keys are revoked immediately and your resources are transferred to their projects. You must
          be invited again to return.
        </ConfirmButton>
        <ConfirmButton
          label="Delete the organization"
          size="md"
          title={`Delete ${name}?`}
          confirmLabel="Delete"
          mustType={name}
          disabledReason={refusal}
          act={remove}
        >
          Deletes its projects, memberships and keys; records are kept. Not possible while machines are
          running.
        </ConfirmButton>
      </div>
    </Panel>
  );
}
