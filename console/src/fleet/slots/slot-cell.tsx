import { TriangleAlert } from 'lucide-react';
import type { ResourceSlot } from '../../api/types.ts';
import { TONE_CLASS } from '../../ui/values/tone.ts';
import { Tooltip } from '../../ui/tooltip.tsx';
import { SLOT_STATES } from './slot-states.ts';

interface SlotCellProps {
  slot: ResourceSlot;
  chosen: boolean;
  onChoose: () => void;
}

export function SlotCell({ slot, chosen, onChoose }: SlotCellProps) {
  const { label, tone, fill } = SLOT_STATES[slot.state];
  const unhealthy = slot.health_state === 'unhealthy';
  return (
    <Tooltip text={`${slot.gpu_pci_address} · ${slot.nvme_serial} · ${slot.private_ip}`}>
      <button
        type="button"
        onClick={onChoose}
        aria-pressed={chosen}
        className={`${TONE_CLASS[tone]} flex min-w-0 flex-col gap-1.5 rounded-md border bg-surface p-1.5 text-left hover:border-line-strong ${chosen ? 'border-accent! ring-1 ring-accent' : 'border-line'}`}
      >
        <span className={`${fill} h-8 w-full rounded-[3px] border`} />
        <span className="flex items-center justify-between text-xs font-semibold tabular-nums">
          <span>
            <span className="sr-only">Slot </span>
            {slot.slot_index}
          </span>
          {unhealthy && (
            <TriangleAlert aria-label="unhealthy" className="tone-danger size-3 text-tone-text" />
          )}
        </span>
        <span className="min-h-[2lh] text-xs leading-tight text-tone-text">{label}</span>
      </button>
    </Tooltip>
  );
}
