import type { TaskParams } from '@gpuaas/contracts/tasks';

export type WipeScope = NonNullable<TaskParams['slice.vm_release']['wipe_scope']>;

/**
 * Who wants the cleanup: the end of a lease, a launch that failed, an operator, or an operator who confirmed that
 * foreign data may be destroyed as well.
 */
export type CleanupCause = 'release' | 'failed_launch' | 'operator' | 'operator_all_data';

export interface CleanupSituation {
  cause: CleanupCause;
  /** The shape's cleanup can destroy nothing but what the lease itself created. */
  ownDataOnly: boolean;
  /** Operators confirmed by policy that a failed launch's own data may be wiped. */
  isPreConfirmed: boolean;
  /** Attempts so far without proof, and how many there may be. */
  failures: number;
  attempts: number;
  /** The host's reason for the last one; null if it named none. */
  refusal: string | null;
}

export type CleanupDecision = { kind: 'run'; scope: WipeScope } | { kind: 'wait_for_operator' };

/** The disk is in use, holds data of another use, or is not the one that was sold: another attempt ends the same way. */
const NEEDS_OPERATOR: ReadonlySet<string> = new Set([
  'disk_in_use',
  'disk_mounted',
  'disk_not_ours',
  'disk_unknown',
  'plan_refused',
  'slot_leased',
]);

/**
 * What the platform may do next about data on a host. Without an operator it destroys only what the lease wrote, and
 * after a failed launch it stops the machine and leaves the disks.
 */
export function decideCleanup(situation: CleanupSituation): CleanupDecision {
  const { failures, attempts, refusal } = situation;
  if (failures >= attempts) return { kind: 'wait_for_operator' };
  if (refusal !== null && NEEDS_OPERATOR.has(refusal)) return { kind: 'wait_for_operator' };
  return { kind: 'run', scope: scopeOf(situation) };
}

function scopeOf({ cause, ownDataOnly, isPreConfirmed }: CleanupSituation): WipeScope {
  if (ownDataOnly) return 'own_data';
  switch (cause) {
    case 'operator_all_data':
      return 'all_data';
    case 'failed_launch':
      return isPreConfirmed ? 'own_data' : 'nothing';
    case 'operator':
    case 'release':
      return 'own_data';
  }
}
