import { Link } from '@tanstack/react-router';
import { useProjectDisabledReason } from '../api/me.ts';
import type { AppInstance } from '../api/types.ts';
import { Button } from '../ui/actions/button.tsx';
import { buttonClass } from '../ui/actions/button-class.ts';

/** To the launch form with the values of an ended instance: the next attempt is another instance. */
export function RetryLink({ instance }: { instance: AppInstance }) {
  const { id, app_slug: slug, allocation_id: allocationId, project_id: projectId } = instance;
  const refusal = useProjectDisabledReason(projectId, 'app_instance.create');
  if (refusal) return <Button disabledReason={refusal}>Run again</Button>;
  return (
    <Link
      to="/apps/$appSlug"
      params={{ appSlug: slug }}
      search={(old) => ({ ...old, on: allocationId, retry_of: id })}
      className={buttonClass({})}
    >
      Run again
    </Link>
  );
}
