import type { TaskParams } from '@gpuaas/contracts/tasks';
import type { Db, Tx } from '../../platform/db/database.ts';

type ReadinessCheck = TaskParams['slice.vm_provision']['readiness_checks'][number];

/** Checks that an image promises beyond a login; its machine is not ready before each has passed. */
export async function readinessChecks(db: Db | Tx, image: string): Promise<ReadinessCheck[]> {
  const row = await db
    .selectFrom('images')
    .select('readiness_checks')
    .where('image', '=', image)
    .executeTakeFirstOrThrow();
  return row.readiness_checks;
}
