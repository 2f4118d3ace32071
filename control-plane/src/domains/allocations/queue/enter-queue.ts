import { sql, type Insertable } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { Allocations } from '../../../platform/db/generated/schema.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { emitAllocation } from '../allocation-events.ts';
import type { AllocationRow } from '../move-allocation.ts';

/** A launch that found no room waits in line. Needs the role `gpuaas_placement`. */
export async function enterQueue(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  launch: Omit<Insertable<Allocations>, 'state'>,
  maxDurationSeconds: number | undefined,
): Promise<AllocationRow> {
  const scope = { organizationId: launch.organization_id, projectId: launch.project_id };
  await requireRoom(tx, launch.project_id, policies.get('queue.max_per_project', scope));
  const now = clock.now();
  const allocation = await tx
    .insertInto('allocations')
    .values({ ...launch, state: 'queued', execution_state: 'waiting in line' })
    .returningAll()
    .executeTakeFirstOrThrow();
  await tx
    .insertInto('queued_launches')
    .values({
      allocation_id: allocation.id,
      organization_id: allocation.organization_id,
      project_id: allocation.project_id,
      max_duration_seconds: maxDurationSeconds ?? null,
      queued_at: now,
      expires_at: new Date(now.getTime() + policies.get('queue.max_wait_seconds', scope) * 1000),
    })
    .execute();
  await emitAllocation(tx, 'allocation.queued', allocation, {
    stage: 'queue',
    status: 'running',
    message: 'No node has room for it now; it starts by itself when its turn comes',
  });
  return allocation;
}

async function requireRoom(tx: Tx, projectId: string, limit: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`queue ${projectId}`}, 0))`.execute(tx);
  const { count } = await tx
    .selectFrom('queued_launches')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow();
  if (Number(count) < limit) return;
  throw new Problem('queue_full', `The project has ${count} launches in line already.`, {
    extensions: { limit },
  });
}
