/** Hourly cost of capacity that is reserved for a project and unused. */
export interface KeptUnused {
  projectId: string;
  sku: string;
  /** Its period has started, so launches of its project use it first. */
  started: boolean;
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
  sku: string;
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
 * Reserved capacity that stays unused beside these launches, which use started reservations of their project.
 * The SQL function `kept_beside` computes the same.
 */
export function keptBeside(kept: readonly KeptUnused[], launches: readonly AskedLaunch[]): bigint {
  const asked = new Map<string, bigint>();
  for (const { projectId, sku, micros } of launches) {
    const key = `${projectId} ${sku}`;
    asked.set(key, (asked.get(key) ?? 0n) + micros);
  }
  const started = new Map<string, bigint>();
  let unused = 0n;
  for (const one of kept) {
    const key = `${one.projectId} ${one.sku}`;
    if (one.started) started.set(key, (started.get(key) ?? 0n) + one.perHourMicros);
    else unused += one.perHourMicros;
  }
  for (const [key, micros] of started) {
    const left = micros - (asked.get(key) ?? 0n);
    if (left > 0n) unused += left;
  }
  return unused;
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
