import { useOrganizationRefusal, type ProjectChoice } from '../api/session.ts';
import { deleteOrganization, leaveOrganization } from '../api/settings.ts';
import { useChange } from '../api/use-change.ts';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Panel } from '../ui/panel.tsx';

/** The ways out. The page is left afterwards, because little of it is still true. */
export function DangerPanel({ organization: { id, name } }: Pick<ProjectChoice, 'organization'>) {
  const refusal = useOrganizationRefusal(id, 'organization.manage');
  const toStart = () => location.assign('/');
  const leave = useChange({ mutationFn: () => leaveOrganization(id), refreshes: [], onSuccess: toStart });
  const remove = useChange({ mutationFn: () => deleteOrganization(id), refreshes: [], onSuccess: toStart });
  return (
    <Panel title="Leave or delete">
      <div className="flex flex-wrap gap-3">
        <ConfirmButton
          label="Leave the organization"
          size="md"
          variant="secondary"
          title={`Leave ${name}?`}
          confirmLabel="Leave"
          act={leave}
        >
          Your keys in it die at once, and what you own passes to its projects. To come back you have to be
          invited again.
        </ConfirmButton>
        <ConfirmButton
          label="Delete the organization"
          size="md"
          title={`Delete ${name}?`}
          confirmLabel="Delete"
          disabledReason={refusal}
          act={remove}
        >
          Its projects, memberships and keys go with it; its records stay. It is refused while anything of it
          runs.
        </ConfirmButton>
      </div>
    </Panel>
  );
}
