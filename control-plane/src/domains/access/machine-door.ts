import type { EventType } from '@gpuaas/contracts/events';
import type { Credential } from '../../platform/auth/caller.ts';
import type { Services } from '../../platform/services.ts';
import { findMachines, type Machine } from '../allocations/connection/find-machines.ts';
import type { Door } from './door.ts';

/** A user or service account that connects to the machine of an allocation. */
export interface MachineAccess {
  allocationId: string;
  actorId: string;
  credential: Credential;
  correlationId: string;
}

const ENDS_ON: ReadonlySet<string> = new Set<EventType>([
  'allocation.release_requested',
  'allocation.releasing',
  'allocation.failed',
]);

/** The terminal and the stream gateway: both lead into the machine of an active allocation. */
export function machineDoor({ policies }: Pick<Services, 'policies'>): Door<Machine> {
  return {
    subject: 'allocation',
    permission: 'allocation.connect',
    endsOn: ENDS_ON,
    closedMessage: 'The allocation is being released.',
    forbiddenMessage: 'You no longer have permission to connect to this machine.',
    maxVisits: () => policies.get('access.max_streams_per_allocation'),
    isOpen: ({ active }) => active,
    find: findMachines,
  };
}
