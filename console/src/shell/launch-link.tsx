import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useProjectRefusal } from '../api/session.ts';
import { Button } from '../ui/button.tsx';
import { buttonClass } from '../ui/button-class.ts';

/** The way to the launch form, or why there is none. */
export function LaunchLink({ projectId }: { projectId: string }) {
  const refusal = useProjectRefusal(projectId, 'allocation.create');
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
