import { sql, type Insertable } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { Allocations } from '../../../platform/db/generated/schema.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { emitAllocation } from '../../timeline/allocation-events.ts';
import { atRest } from '../execution.ts';
import type { AllocationRow } from '../transition-allocation.ts';

/** Queues a launch that found no capacity. Needs the role `gpuaas_placement`. */
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
    .values({ ...launch, state: 'queued', ...atRest('queued') })
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
    message: 'No node has capacity now; the launch starts automatically when its turn comes',
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
  throw new Problem('queue_full', `The project already has ${count} queued launches.`, {
    extensions: { limit },
  });
}
