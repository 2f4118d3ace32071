import { TONE_CLASS } from '../../ui/values/tone.ts';
import { SLOT_STATE_ORDER, SLOT_STATES } from './slot-states.ts';

export function SlotLegend() {
  return (
    <ul aria-label="Slot states" className="flex flex-wrap gap-x-4 gap-y-1.5 text-xs text-ink-muted">
      {SLOT_STATE_ORDER.map((state) => {
        const { label, tone, fill } = SLOT_STATES[state];
        return (
          <li key={state} className="inline-flex items-center gap-1.5">
            <span aria-hidden className={`${TONE_CLASS[tone]} ${fill} size-3 rounded-[3px] border`} />
            {label}
          </li>
        );
      })}
    </ul>
  );
}
