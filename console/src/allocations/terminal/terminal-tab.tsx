import { lazy, Suspense } from 'react';
import { SquareTerminal } from 'lucide-react';
import { hasProjectPermission, useMe } from '../../api/me.ts';
import type { Allocation } from '../../api/types.ts';
import { EmptyState } from '../../ui/feedback/empty-state.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';

// The emulator is by far the largest part of the console, so it is loaded only with a terminal.
const Terminal = lazy(() => import('./terminal.tsx').then((module) => ({ default: module.Terminal })));

export function TerminalTab({ allocation }: { allocation: Allocation }) {
  const me = useMe();
  if (!hasProjectPermission(me, allocation.project_id, 'allocation.connect')) {
    return <NoTerminal title="No permission">Requires allocation.connect in this project</NoTerminal>;
  }
  if (allocation.state !== 'active') {
    return (
      <NoTerminal title="Machine not running">
        You can open a terminal while the allocation is active.
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
