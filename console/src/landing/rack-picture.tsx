import type { SlotState } from '../api/types.ts';
import { SLOT_STATES } from '../fleet/slots/slot-states.ts';
import { TONE_CLASS } from '../ui/values/tone.ts';

// u: in use, a: available, r: reserved, c: cleaning. A picture, not data.
const RACK = ['uuuuuuuu', 'uuuuaaaa', 'uuuurrrr', 'uuccaaaa', 'aaaaaaaa', 'uuaaaaaa'];
const STATE: Record<string, SlotState> = { u: 'in_use', a: 'available', r: 'reserved', c: 'cleaning' };

/** A rack of eight-GPU hosts as the console shows them. */
export function RackPicture() {
  return (
    <div
      aria-hidden
      className="flex flex-col gap-1.5 rounded-xl border border-line bg-surface p-3 max-lg:hidden"
    >
      {RACK.map((host, index) => (
        <div
          key={index}
          className="flex items-center gap-3 rounded-md border border-line bg-sunken px-3 py-2.5"
        >
          <span className="flex flex-col gap-1">
            <span className="block size-1 rounded-full bg-line-strong" />
            <span className="block size-1 rounded-full bg-line-strong" />
          </span>
          <div className="grid flex-1 grid-cols-8 gap-1.5">
            {host.split('').map((slot, slotIndex) => {
              const style = SLOT_STATES[STATE[slot] ?? 'disabled'];
              return (
                <span
                  key={slotIndex}
                  className={`${TONE_CLASS[style.tone]} ${style.fill} h-7 rounded-[3px] border`}
                />
              );
            })}
          </div>
        </div>
      ))}
    </div>
  );
}
