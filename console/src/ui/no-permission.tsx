import { Lock } from 'lucide-react';
import { EmptyState } from './empty-state.tsx';

/** The API refused to show it. */
export function NoPermission({ detail }: { detail: string }) {
  return (
    <EmptyState icon={Lock} title="You may not see this">
      {detail} Ask an administrator to bind a permission group to you that holds it.
    </EmptyState>
  );
}
