/** Facts that placement needs to lease an approved slot. */
export interface SlotFacts {
  slotIndex: number;
  state: string;
  healthState: string;
  numaNode: number;
  pcieRoot: string;
  gpuPciAddress: string | null;
  fabricVfPciAddress: string | null;
  fabricClaimMode: string | null;
  nvmeSerial: string | null;
  nvmeDevice: string | null;
  managementMac: string | null;
  privateIp: string | null;
  destructiveWipePolicy: string | null;
}

const VISIBLE = /[!-~]/;

/**
 * Checked here although approval and the database check it too: a row that bypassed both must still not be
 * leased. The same as `is_complete` in SQL.
 */
export function isComplete(slot: SlotFacts): boolean {
  if (isWholeNodeUnit(slot)) return slot.gpuPciAddress !== null && VISIBLE.test(slot.gpuPciAddress);
  return (
    slot.fabricClaimMode === 'per_slot_vf' &&
    [
      slot.gpuPciAddress,
      slot.fabricVfPciAddress,
      slot.nvmeSerial,
      slot.nvmeDevice,
      slot.managementMac,
      slot.privateIp,
      slot.destructiveWipePolicy,
    ].every((binding) => binding !== null && VISIBLE.test(binding))
  );
}

/** A GPU of a host that is offered as a whole; fabric, disks and addresses belong to the host. */
export function isWholeNodeUnit({ fabricClaimMode }: Pick<SlotFacts, 'fabricClaimMode'>): boolean {
  return fabricClaimMode === 'whole_node';
}

export function isHealthy(slot: SlotFacts): boolean {
  return slot.healthState !== 'unhealthy';
}
