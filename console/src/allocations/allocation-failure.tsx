import type { Allocation } from '../api/types.ts';
import { Notice } from '../ui/feedback/notice.tsx';

/** The failure, and its effect on the bill. */
export function AllocationFailure({ allocation: { state, failure } }: { allocation: Allocation }) {
  if (state !== 'failed' && state !== 'release_failed') return null;
  const title = state === 'failed' ? 'Launch failed' : 'Release failed';
  const meaning =
    state === 'failed'
      ? 'You are not charged. The slots stay quarantined until the wipe is verified.'
      : 'Billing has stopped. The slots stay quarantined until the wipe is verified. You can retry the release.';
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
