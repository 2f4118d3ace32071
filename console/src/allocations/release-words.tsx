import type { Allocation } from '../api/types.ts';
import { counted } from '../format/words.ts';

/** What a release is called in this state, and what it does. */
export function releaseLabels({ state }: Allocation) {
  if (state === 'queued') return { button: 'Leave the line', confirm: 'Leave the line' };
  const again = state === 'release_failed';
  return { button: again ? 'Release again' : 'Release', confirm: 'Wipe and release' };
}

export function ReleaseConsequences({ allocation }: { allocation: Allocation }) {
  if (allocation.state === 'queued') {
    return <p>It gives up its place in line and will not start. Nothing was billed for it.</p>;
  }
  return (
    <ul className="flex list-disc flex-col gap-1.5 pl-4">
      <li>The machine is stopped and given back with its {counted(allocation.gpu_count, 'GPU')}.</li>
      <li className="font-medium text-ink">All data on its local NVMe is wiped. This cannot be undone.</li>
      <li>Billing stops now, not when the wipe is done.</li>
    </ul>
  );
}
