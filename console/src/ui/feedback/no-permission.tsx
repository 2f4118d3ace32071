import { Lock } from 'lucide-react';
import { EmptyState } from './empty-state.tsx';

/** The API refused to show it. */
export function NoPermission({ detail }: { detail: string }) {
  return (
    <EmptyState icon={Lock} title="You don't have access to this">
      {detail} Ask an admin for this permission.
    </EmptyState>
  );
}
