import { Link } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import { buttonClass } from '../ui/button-class.ts';
import { EmptyState } from '../ui/empty-state.tsx';

export function NoAllocations() {
  return (
    <EmptyState
      icon={Rocket}
      title="Nothing was launched here yet"
      action={
        <Link to="/launch" className={buttonClass({ variant: 'primary', size: 'lg' })}>
          Launch a GPU
        </Link>
      }
    >
      Pick a size, watch the machine come up live, and open a terminal in it from its page.
    </EmptyState>
  );
}
