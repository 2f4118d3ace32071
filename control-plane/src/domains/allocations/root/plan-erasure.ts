import type { MaasMachine } from '../../../platform/maas/machine.ts';
import { isBusy, type MachineStatus } from '../../../platform/maas/machine-status.ts';

/** Next action for a machine that is to be erased. */
export type ErasurePlan =
  | { kind: 'allocate' | 'release' | 'wait' | 'finish' }
  | { kind: 'fail'; detail: string };

const RELEASABLE: readonly MachineStatus[] = [
  'allocated',
  'deployed',
  'failed_deployment',
  'failed_releasing',
  'failed_disk_erasing',
  'broken',
];

/**
 * `begun`: MAAS was seen erasing the machine. Only then does `ready` mean that its disks are empty; a machine
 * that became ready unseen, or that was released manually, is allocated again and erased.
 */
export function planErasure(machine: MaasMachine, user: string, begun: boolean): ErasurePlan {
  const { status, owner } = machine;
  if (status === 'ready' && owner === null) return { kind: begun ? 'finish' : 'allocate' };
  if (isBusy(status)) return { kind: 'wait' };
  if (begun && status === 'failed_disk_erasing') return failed(machine);
  return owner === user && RELEASABLE.includes(status) ? { kind: 'release' } : failed(machine);
}

function failed({ status, owner, statusMessage }: MaasMachine): ErasurePlan {
  const whose = owner === null ? '' : `, with owner ${owner}`;
  const why = statusMessage === '' ? '' : `: ${statusMessage}`;
  return { kind: 'fail', detail: `In MAAS the machine is ${status.replaceAll('_', ' ')}${whose}${why}` };
}
