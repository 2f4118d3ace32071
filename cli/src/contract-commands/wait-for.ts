import type { components } from '@gpuaas/sdk/contract';
import type { Operation } from '@gpuaas/sdk/operations';
import { unwrap } from '@gpuaas/sdk/problem';
import { awaitBlockedSlot } from '../fleet/await-blocked-slot.ts';
import { awaitConversion } from '../fleet/await-conversion.ts';
import { awaitTask } from '../fleet/await-task.ts';
import { followAllocation } from '../follow-allocation.ts';
import { pollUntil } from '../poll-until.ts';
import type { Session } from '../session.ts';

type Schemas = components['schemas'];
type Waiter = (session: Session, answer: never, operation: Operation) => Promise<unknown>;

/** How the end of what was accepted is seen, by what the answer is. */
const WAITERS: Record<string, Waiter> = {
  Allocation: (session, { id }: Schemas['Allocation'], operation) =>
    operation.path.includes('/admin/')
      ? awaitAdminRelease(session, id)
      : followAllocation(session, id, operation.id === 'createAllocation' ? 'active' : 'released'),
  NodeTask: (session, task: Schemas['NodeTask']) => awaitTask(session, task.id),
  NodeConversion: (session, conversion: Schemas['NodeConversion']) => awaitConversion(session, conversion),
  BlockedSlot: (session, { slot }: Schemas['BlockedSlot']) => awaitBlockedSlot(session, slot),
};

export function canWait({ accepted }: Operation): boolean {
  return accepted !== undefined && Object.hasOwn(WAITERS, accepted);
}

export async function waitFor(session: Session, operation: Operation, answer: unknown): Promise<unknown> {
  return await WAITERS[operation.accepted!]!(session, answer as never, operation);
}

/** Operators see allocations of all tenants, in their own place. */
async function awaitAdminRelease({ client }: Session, id: string): Promise<Schemas['Allocation']> {
  const params = { path: { allocation_id: id } };
  const { allocation } = await pollUntil({
    look: () => unwrap(client.GET('/api/v1/admin/allocations/{allocation_id}', { params })),
    isSettled: (detail) => ['released', 'release_failed'].includes(detail.allocation.state),
    goesOn: `The cleanup goes on: gpuaas admin allocations get ${id}`,
  });
  if (allocation.state === 'release_failed')
    throw new Error(`the release failed again: ${allocation.failure?.detail ?? 'no reason given'}`);
  return allocation;
}
