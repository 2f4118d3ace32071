import { Link } from '@tanstack/react-router';
import type { ResourceSlot } from '../../api/types.ts';
import { shortId } from '../../format/humanize.ts';
import { Code, Fact, Facts } from '../../ui/values/facts.tsx';
import { StateList } from '../../ui/values/state-list.tsx';
import { slotStates } from '../fleet-states.ts';
import { SLOT_STATES } from './slot-states.ts';

const HEALTH = { unknown: 'Unknown', healthy: 'Healthy', unhealthy: 'Unhealthy' };

export function SlotDetail({ slot }: { slot: ResourceSlot }) {
  return (
    <section aria-label={`Slot ${slot.slot_index}`} className="flex flex-col gap-3 border-t border-line pt-4">
      <h3 className="text-sm font-semibold">
        Slot {slot.slot_index}
        <span className="font-normal text-ink-muted"> · {SLOT_STATES[slot.state].label}</span>
      </h3>
      <div className="grid gap-x-8 gap-y-2.5 xl:grid-cols-2">
        <Facts>
          <Fact name="GPU" copy={slot.gpu_pci_address}>
            {slot.gpu_model} <Code>{slot.gpu_pci_address}</Code>
          </Fact>
          <Fact name="Fabric VF" copy={slot.fabric_vf_pci_address}>
            <Code>{slot.fabric_vf_pci_address}</Code>
          </Fact>
          <Fact name="NVMe serial" copy={slot.nvme_serial}>
            <Code>{slot.nvme_serial}</Code>
          </Fact>
          <Fact name="Wipe policy">
            <Code>{slot.capacity_metadata.destructive_wipe_policy}</Code>
          </Fact>
        </Facts>
        <Facts>
          <Fact name="MAC" copy={slot.management_mac}>
            <Code>{slot.management_mac}</Code>
          </Fact>
          <Fact name="Private IP" copy={slot.private_ip}>
            <Code>{slot.private_ip}</Code>
          </Fact>
          <Fact name="Health">
            {HEALTH[slot.health_state]}
            {slot.health_detail && <span className="text-ink-muted"> · {slot.health_detail}</span>}
          </Fact>
          <Fact name="Allocation" copy={slot.allocation_id}>
            <Holder allocationId={slot.allocation_id} />
          </Fact>
        </Facts>
      </div>
      <div className="border-t border-line pt-3">
        <StateList states={slotStates(slot.states)} />
      </div>
    </section>
  );
}

/** Allocation that holds the slot. */
function Holder({ allocationId }: { allocationId: string | null }) {
  if (!allocationId) return 'None';
  return (
    <Link
      to="/operator/allocations/$allocationId"
      params={{ allocationId }}
      title={allocationId}
      className="text-accent-text underline underline-offset-2"
    >
      …{shortId(allocationId)}
    </Link>
  );
}
