/**
 * MAAS's machine states by number, and their meaning for a waiting workflow: `resting` until it gets a
 * request, `busy` in transition, `failed` until a person or a retry helps.
 */
const STATUSES = {
  0: ['new', 'resting'],
  1: ['commissioning', 'busy'],
  2: ['failed_commissioning', 'failed'],
  3: ['missing', 'failed'],
  4: ['ready', 'resting'],
  5: ['reserved', 'resting'],
  6: ['deployed', 'resting'],
  7: ['retired', 'resting'],
  8: ['broken', 'failed'],
  9: ['deploying', 'busy'],
  10: ['allocated', 'resting'],
  11: ['failed_deployment', 'failed'],
  12: ['releasing', 'busy'],
  13: ['failed_releasing', 'failed'],
  14: ['disk_erasing', 'busy'],
  15: ['failed_disk_erasing', 'failed'],
  16: ['rescue_mode', 'resting'],
  17: ['entering_rescue_mode', 'busy'],
  18: ['failed_entering_rescue_mode', 'failed'],
  19: ['exiting_rescue_mode', 'busy'],
  20: ['failed_exiting_rescue_mode', 'failed'],
  21: ['testing', 'busy'],
  22: ['failed_testing', 'failed'],
} as const satisfies Record<number, readonly [string, Phase]>;

type Phase = 'resting' | 'busy' | 'failed';
type Known = (typeof STATUSES)[keyof typeof STATUSES][0];

/** `unknown`: a number that this release does not know; such a machine is left alone. */
export type MachineStatus = Known | 'unknown';

const NAMES: ReadonlyMap<number, readonly [Known, Phase]> = new Map(
  Object.entries(STATUSES).map(([number, entry]) => [Number(number), entry]),
);
const PHASES: ReadonlyMap<string, Phase> = new Map(Object.values(STATUSES));

export function parseMachineStatus(number: number): MachineStatus {
  return NAMES.get(number)?.[0] ?? 'unknown';
}

export function isBusy(status: MachineStatus): boolean {
  return PHASES.get(status) === 'busy';
}

export function isFailed(status: MachineStatus): boolean {
  return PHASES.get(status) === 'failed';
}
