import { type Updateable } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { AppInstances } from '../../../platform/db/generated/schema.ts';
import type { InstanceRow } from './record-event.ts';
import { canMove, type AppStatus } from './states.ts';

/** The row must be locked before it is changed. */
export async function lockInstance(tx: Tx, instanceId: string): Promise<InstanceRow> {
  return await tx
    .selectFrom('app_instances')
    .selectAll()
    .where('id', '=', instanceId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** The one place that changes the status of an instance, which must be locked. */
export async function moveInstance(
  tx: Tx,
  instance: InstanceRow,
  to: AppStatus,
  change: Updateable<AppInstances> = {},
): Promise<InstanceRow> {
  if (!canMove(instance.status, to))
    throw new Error(`app instance ${instance.id} cannot go from ${instance.status} to ${to}`);
  return await tx
    .updateTable('app_instances')
    .set({ ...change, status: to })
    .where('id', '=', instance.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}
