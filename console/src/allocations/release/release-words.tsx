import type { Allocation } from '../../api/types.ts';
import { pluralize } from '../../format/humanize.ts';

/** Label and effect of a release in this state. */
export function releaseLabels({ state }: Allocation) {
  if (state === 'queued') return { button: 'Cancel launch', confirm: 'Cancel launch' };
  const again = state === 'release_failed';
  return { button: again ? 'Retry release' : 'Release', confirm: 'Wipe and release' };
}

export function ReleaseConsequences({ allocation }: { allocation: Allocation }) {
  if (allocation.state === 'queued') {
    return <p>The launch is removed from the queue. You were not billed.</p>;
  }
  return (
    <ul className="flex list-disc flex-col gap-1.5 pl-4">
      <li>The machine will be stopped and released with its {pluralize(allocation.gpu_count, 'GPU')}.</li>
      <li className="font-medium text-ink">
        All data on its local NVMe disks will be wiped. This cannot be undone.
      </li>
      <li>Billing stops now, before the wipe finishes.</li>
    </ul>
  );
}
