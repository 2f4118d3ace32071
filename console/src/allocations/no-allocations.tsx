import { Link } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import { buttonClass } from '../ui/actions/button-class.ts';
import { EmptyState } from '../ui/feedback/empty-state.tsx';

export function NoAllocations() {
  return (
    <EmptyState
      icon={Rocket}
      title="No allocations yet"
      action={
        <Link to="/launch" className={buttonClass({ variant: 'primary', size: 'lg' })}>
          Launch a GPU
        </Link>
      }
    >
      Pick a size, watch the machine start, and open a terminal from its page.
    </EmptyState>
  );
}
