import { lazy, Suspense } from 'react';
import { SquareTerminal } from 'lucide-react';
import { mayInProject, useMe } from '../api/session.ts';
import type { Allocation } from '../api/types.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Skeleton } from '../ui/skeleton.tsx';

// The emulator is by far the largest part of the console; only those who open a terminal load it.
const Terminal = lazy(() => import('./terminal.tsx').then((module) => ({ default: module.Terminal })));

export function TerminalTab({ allocation }: { allocation: Allocation }) {
  const me = useMe();
  if (!mayInProject(me, allocation.project_id, 'allocation.connect')) {
    return (
      <NoTerminal title="No permission">
        You lack the permission allocation.connect in this project.
      </NoTerminal>
    );
  }
  if (allocation.state !== 'active') {
    return (
      <NoTerminal title="No machine to connect to">
        A terminal can be opened while the allocation is active.
      </NoTerminal>
    );
  }
  return (
    <Suspense fallback={<Skeleton label="Loading the terminal" />}>
      <Terminal allocationId={allocation.id} />
    </Suspense>
  );
}

function NoTerminal({ title, children }: { title: string; children: string }) {
  return (
    <div className="rounded-lg border border-line bg-surface">
      <EmptyState icon={SquareTerminal} title={title}>
        {children}
      </EmptyState>
    </div>
  );
}
