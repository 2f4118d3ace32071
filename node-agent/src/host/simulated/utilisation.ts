import { createHash } from 'node:crypto';

const MINUTE_MS = 60_000;
/** So many leases in a hundred do nothing, as people forget them. */
const FORGOTTEN_PERCENT = 20;

/**
 * How busy the GPU of a lease is at a time. Some leases are forgotten and do nothing; the others work, with the short
 * pauses of a training loop. The same for the same lease, device and minute.
 */
export function simulatedUtilisation(allocationId: string, pciAddress: string, at: Date): number {
  if (share(allocationId) < FORGOTTEN_PERCENT) return 0;
  const minute = Math.floor(at.getTime() / MINUTE_MS);
  const pause = share(`${allocationId} ${minute}`) < 5;
  return pause ? 30 + (share(`${pciAddress} ${minute}`) % 20) : 78 + (share(`${pciAddress} ${minute}`) % 21);
}

/** A number below a hundred that a text always gives. */
function share(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) % 100;
}
