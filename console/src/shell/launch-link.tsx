import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useProjectDisabledReason } from '../api/me.ts';
import { Button } from '../ui/actions/button.tsx';
import { buttonClass } from '../ui/actions/button-class.ts';

/** Link to the launch form, or the reason why it is disabled. */
export function LaunchLink({ projectId }: { projectId: string }) {
  const refusal = useProjectDisabledReason(projectId, 'allocation.create');
  if (refusal) {
    return (
      <Button variant="primary" disabledReason={refusal}>
        Launch
      </Button>
    );
  }
  return (
    <Link to="/launch" className={buttonClass({ variant: 'primary' })}>
      <Plus aria-hidden className="size-4" />
      Launch
    </Link>
  );
}
