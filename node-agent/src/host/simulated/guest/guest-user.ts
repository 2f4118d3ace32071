import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chown, stat } from 'node:fs/promises';

/** No system gives these to people or services. */
const WIDE = { first: 1_000_000_000, count: 2 ** 29 };
/** Where a container leaves root 16 bits of users: above those of people. */
const NARROW = { first: 60_600, count: 4_900 };

/**
 * The user of one guest. The kernel counts processes by user, so guests that shared one would share its limit. It
 * follows from the allocation, so that it is the same after a restart and for every host on this machine.
 */
export function guestUid(allocationId: string): number {
  const { first, count } = lastUid() >= WIDE.first + WIDE.count ? WIDE : NARROW;
  return first + (createHash('sha256').update(allocationId).digest().readUInt32BE(0) % count);
}

/**
 * Gives the home folder to the guest's user and returns that user; null if the agent is not root, and the guest is the
 * agent's user. A home that has an owner keeps it.
 */
export async function ownHome(home: string, allocationId: string): Promise<number | null> {
  if (process.getuid?.() !== 0) return null;
  const { uid } = await stat(home);
  if (uid !== 0) return uid;
  const own = guestUid(allocationId);
  await chown(home, own, own);
  return own;
}

/** The end of the range of users that begins with root. */
function lastUid(): number {
  const [inside, , count] = readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/).map(Number);
  return inside === 0 ? (count ?? 0) - 1 : 0;
}
