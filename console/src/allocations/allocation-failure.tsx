import type { Allocation } from '../api/types.ts';
import { Notice } from '../ui/notice.tsx';

/** What went wrong, and what it means for the bill. */
export function AllocationFailure({ allocation: { state, failure } }: { allocation: Allocation }) {
  if (state !== 'failed' && state !== 'release_failed') return null;
  const title = state === 'failed' ? 'The launch failed' : 'The release could not be finished';
  const meaning =
    state === 'failed'
      ? 'You are not charged. Its slots stay blocked until their wipe is proven.'
      : 'Billing has stopped. The slots stay blocked until their wipe is proven; you may release again.';
  return (
    <Notice tone="danger" title={title}>
      {failure && (
        <p>
          {failure.detail} <code className="font-mono text-xs">{failure.code}</code>
        </p>
      )}
      <p>{meaning}</p>
    </Notice>
  );
}
