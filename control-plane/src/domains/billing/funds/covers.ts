/** Hourly cost of capacity that is reserved for a project and unused. */
export interface KeptUnused {
  projectId: string;
  nodeIds: readonly string[];
  perHourMicros: bigint;
}

/** Hourly commitments of a tenant in one currency. */
export interface Commitments {
  runningMicros: bigint;
  /** Launches that are not metered yet. */
  pendingMicros: bigint;
  kept: readonly KeptUnused[];
}

/** The facts of a launch that a funds check needs. */
export interface AskedLaunch {
  projectId: string;
  /** Null before it is placed: it may then use every reservation of its project. */
  nodeId: string | null;
  micros: bigint;
}

export const NOTHING_COMMITTED: Commitments = { runningMicros: 0n, pendingMicros: 0n, kept: [] };

/**
 * Whether the funds cover `seconds` of everything that runs and starts, plus `keptSeconds` of unused
 * reservations. The SQL function `covers` computes the same; a test compares the two.
 */
export function covers(
  availableMicros: bigint,
  perHourMicros: bigint,
  seconds: number,
  keptPerHourMicros: bigint,
  keptSeconds: number,
): boolean {
  return availableMicros >= costFor(perHourMicros, seconds) + costFor(keptPerHourMicros, keptSeconds);
}

export function costFor(perHourMicros: bigint, seconds: number): bigint {
  return (perHourMicros * BigInt(seconds)) / 3600n;
}

/**
 * Reserved capacity that stays unused beside these launches. A launch uses a reservation of its project only on a
 * reserved node. The SQL function `kept_beside` computes the same; a test compares the two.
 */
export function keptBeside(kept: readonly KeptUnused[], launches: readonly AskedLaunch[]): bigint {
  return kept.reduce((unused, { projectId, nodeIds, perHourMicros }) => {
    const used = launches
      .filter((one) => one.projectId === projectId && (one.nodeId === null || nodeIds.includes(one.nodeId)))
      .reduce((sum, { micros }) => sum + micros, 0n);
    return used < perHourMicros ? unused + perHourMicros - used : unused;
  }, 0n);
}

/** Whether the funds cover all of these launches together with the tenant's commitments. */
export function coversLaunches(
  {
    availableMicros,
    seconds,
    keptSeconds,
  }: { availableMicros: bigint; seconds: number; keptSeconds: number },
  { runningMicros, pendingMicros, kept }: Commitments,
  launches: readonly AskedLaunch[],
): boolean {
  const asked = launches.reduce((sum, { micros }) => sum + micros, 0n);
  return covers(
    availableMicros,
    runningMicros + pendingMicros + asked,
    seconds,
    keptBeside(kept, launches),
    keptSeconds,
  );
}
