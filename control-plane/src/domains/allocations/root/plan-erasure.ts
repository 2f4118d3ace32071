import type { MaasMachine } from '../../../platform/maas/machine.ts';
import { isBusy, type MachineStatus } from '../../../platform/maas/machine-status.ts';

/** What comes next for a machine that is to be erased. */
export type ErasurePlan = 'allocate' | 'release' | 'wait' | 'finish' | { fail: string };

const RELEASABLE: readonly MachineStatus[] = [
  'allocated',
  'deployed',
  'failed_deployment',
  'failed_releasing',
  'failed_disk_erasing',
  'broken',
];

/**
 * `begun`: MAAS was seen erasing the machine. Only then does `ready` mean that its disks are empty; a machine that
 * came to rest unseen, or that somebody released by hand, is taken again and erased.
 */
export function planErasure(machine: MaasMachine, user: string, begun: boolean): ErasurePlan {
  const { status, owner } = machine;
  if (status === 'ready' && owner === null) return begun ? 'finish' : 'allocate';
  if (isBusy(status)) return 'wait';
  if (begun && status === 'failed_disk_erasing') return failed(machine);
  return owner === user && RELEASABLE.includes(status) ? 'release' : failed(machine);
}

function failed({ status, owner, statusMessage }: MaasMachine): ErasurePlan {
  const whose = owner === null ? '' : `, with owner ${owner}`;
  const why = statusMessage === '' ? '' : `: ${statusMessage}`;
  return { fail: `In MAAS the machine is ${status.replaceAll('_', ' ')}${whose}${why}` };
}
