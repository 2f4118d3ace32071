import type { Node } from '../../api/types.ts';
import { TONE_CLASS } from '../../ui/values/tone.ts';
import { SLOT_STATE_ORDER, SLOT_STATES } from './slot-states.ts';

/** A node's slots at a glance: one square each, grouped by state, and the counts in words. */
export function SlotStrip({ counts }: { counts: Node['slot_counts'] }) {
  const states = SLOT_STATE_ORDER.filter((state) => counts[state] > 0);
  const total = states.reduce((sum, state) => sum + counts[state], 0);
  if (total === 0) return <span className="text-ink-faint">No slots approved</span>;
  const words = states
    .map((state) => `${counts[state]} ${SLOT_STATES[state].label.toLowerCase()}`)
    .join(', ');
  return (
    <span className="inline-flex items-center gap-2.5 align-middle" title={words}>
      <span role="img" aria-label={words} className="inline-flex gap-[3px]">
        {states.flatMap((state) =>
          Array.from({ length: counts[state] }, (_, index) => (
            <span
              key={`${state}-${index}`}
              className={`${TONE_CLASS[SLOT_STATES[state].tone]} ${SLOT_STATES[state].fill} size-3.5 rounded-[3px] border`}
            />
          )),
        )}
      </span>
      <span className="text-xs text-ink-muted tabular-nums">
        {counts.available} of {total} free
      </span>
    </span>
  );
}
