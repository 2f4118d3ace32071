import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { emitAllocation } from '../../timeline/allocation-events.ts';
import { findAllocation } from '../find-allocation.ts';
import { maxLeaseSeconds } from './lease-duration.ts';
import type { AllocationRow } from '../transition-allocation.ts';

const EXTENDABLE = ['reserved', 'provisioning', 'active'];

/** Moves the end time of a lease. Slots and price stay unchanged. */
export async function extendAllocation(
  { clock, policies }: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  caller: Caller,
  allocationId: string,
  additionalSeconds: number,
): Promise<AllocationRow> {
  const row = await findAllocation(tx, caller, 'allocation.create', allocationId, { lock: true });
  if (!row.ends_at) throw refused('The lease has no agreed end.');
  if (row.desired_state !== 'active' || !EXTENDABLE.includes(row.state) || row.ends_at <= clock.now()) {
    throw refused('The lease is ending or over.');
  }
  const endsAt = new Date(row.ends_at.getTime() + additionalSeconds * 1000);
  const longest = maxLeaseSeconds(policies, {
    organizationId: row.organization_id,
    projectId: row.project_id,
  });
  if (endsAt.getTime() - (await withRole(tx, 'gpuaas_worker', () => leaseStart(tx, row))) > longest * 1000) {
    throw refused(`A lease may last ${longest} s here, extensions included.`, { longest_seconds: longest });
  }
  await withRole(tx, 'gpuaas_placement', () => requireNoPromise(tx, row, endsAt));
  return await withRole(tx, 'gpuaas_worker', async () => {
    await tx
      .updateTable('allocation_resource_claims')
      .set({ ends_at: endsAt })
      .where('allocation_id', '=', row.id)
      .where('released_at', 'is', null)
      .execute();
    const updated = await tx
      .updateTable('allocations')
      .set({ ends_at: endsAt })
      .where('id', '=', row.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await emitAllocation(tx, 'allocation.extended', updated, {
      stage: 'active',
      status: 'done',
      message: `Extended until ${endsAt.toISOString()}`,
    });
    return updated;
  });
}

/** When its capacity was claimed: time in the queue is no part of the lease. */
async function leaseStart(tx: Tx, row: AllocationRow): Promise<number> {
  const { claimed_at } = await tx
    .selectFrom('allocation_resource_claims')
    .select((e) => e.fn.min('created_at').as('claimed_at'))
    .where('allocation_id', '=', row.id)
    .executeTakeFirstOrThrow();
  return (claimed_at ?? row.created_at).getTime();
}

/** The node stays locked, so that a concurrent reservation sees the new end. */
async function requireNoPromise(tx: Tx, row: AllocationRow, endsAt: Date): Promise<void> {
  await tx.selectFrom('nodes').select('id').where('id', '=', row.node_id).forKeyShare().execute();
  const promise = await tx
    .selectFrom('node_promises')
    .select('starts_at')
    .where('node_id', '=', row.node_id)
    .where('holder_id', 'not in', [row.id, row.project_id])
    .where('starts_at', '<', endsAt)
    .where((e) => e.or([e('ends_at', 'is', null), e('ends_at', '>', row.ends_at)]))
    .orderBy('starts_at')
    .limit(1)
    .executeTakeFirst();
  if (!promise) return;
  const latest = promise.starts_at.toISOString();
  throw refused(`Its capacity is promised to somebody else from ${latest}.`, { latest_end: latest });
}

function refused(detail: string, extensions: Record<string, unknown> = {}): Problem {
  return new Problem('extension_refused', detail, { extensions });
}
