/** What placement must know of an approved slot to sell it. */
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

/**
 * Checked here although approval and the database check it too: a row that came past both must still not be sold.
 */
export function isComplete(slot: SlotFacts): boolean {
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
    ].every((binding) => binding !== null && binding.trim() !== '')
  );
}

export function isHealthy(slot: SlotFacts): boolean {
  return slot.healthState !== 'unhealthy';
}
