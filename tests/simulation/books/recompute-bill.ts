/**
 * The cost of a lease, computed from the simulated events and not from the platform's tables. It shares no
 * code with the meter on purpose: two independent ways to the same micro-unit.
 */

/** One thing a host said, at the platform's time. */
export interface Heard {
  at: number;
  boot: string;
  /** When the machine of each lease on it was started. */
  machines: ReadonlyMap<string, string>;
}

export interface LeaseStory {
  id: string;
  perHourMicros: bigint;
  activeAt: number;
  releasedAt: number;
}

/** Times in which the lease was not served, in whole seconds of the lease. */
function freeSeconds(lease: LeaseStory, heard: readonly Heard[], unreachableMs: number): number {
  const second = (at: number): number => Math.floor((clamp(lease, at) - lease.activeAt) / 1000);
  let free = 0;
  for (const [index, next] of heard.entries()) {
    const before = heard[index - 1];
    if (!before || next.at <= lease.activeAt || before.at >= lease.releasedAt) continue;
    const [was, is] = [before.machines.get(lease.id), next.machines.get(lease.id)];
    const silent = next.at - before.at > unreachableMs;
    const began = before.at <= lease.activeAt;
    // A machine gone after the release was removed by it.
    const there = is !== undefined || next.at >= lease.releasedAt;
    const served = silent
      ? before.boot === next.boot && was !== undefined && was === is
      : there && (was !== undefined || began);
    if (!served) free += second(next.at) - second(before.at);
  }
  return free;
}

function clamp(lease: LeaseStory, at: number): number {
  return Math.min(Math.max(at, lease.activeAt), lease.releasedAt);
}

export function recomputeBill(lease: LeaseStory, heard: readonly Heard[], unreachableMs: number): bigint {
  const lasted = Math.floor((lease.releasedAt - lease.activeAt) / 1000);
  const billed = lasted - freeSeconds(lease, heard, unreachableMs);
  return (lease.perHourMicros * BigInt(billed)) / 3600n;
}
