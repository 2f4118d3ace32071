import { useProjectDisabledReason } from '../api/me.ts';
import { stopInstance } from '../api/apps/instances.ts';
import { appKeys } from '../api/query-keys.ts';
import type { AppInstance } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { stopBlocker } from './workload-statuses.ts';

export function StopButton({ instance }: { instance: AppInstance }) {
  const { id, name, project_id: projectId, allocation_name: machine } = instance;
  const permission = useProjectDisabledReason(projectId, 'app_instance.stop');
  const stop = useRefreshingMutation({
    mutationFn: () => stopInstance(id),
    refreshes: [appKeys.one(id), appKeys.events(id), appKeys.list(projectId)],
  });
  return (
    <ConfirmButton
      label="Stop"
      size="md"
      title={`Stop ${name}?`}
      confirmLabel="Stop"
      disabledReason={permission ?? stopBlocker(instance)}
      act={stop}
    >
      <ul className="flex list-disc flex-col gap-1.5 pl-4">
        <li>The program is asked to end, and killed if it does not.</li>
        <li>Its folder in the machine is deleted. Its log is kept.</li>
        <li>{machine} stays, and is billed until you release it.</li>
      </ul>
    </ConfirmButton>
  );
}
