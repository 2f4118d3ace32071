import { sql } from 'kysely';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { eventually } from '../../harness/eventually.ts';

/** A mended host can be sold again from its next heartbeat on, which a busy machine may send late. */
export async function hearAllHosts(db: Db, deadlineMs: number): Promise<void> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  await eventually(
    'a heartbeat of every host',
    async () => {
      const silent = await db
        .selectFrom('nodes')
        .select('id')
        .where((where) =>
          where.or([where('last_heartbeat_at', 'is', null), where('last_heartbeat_at', '<=', rows[0]!.now)]),
        )
        .execute();
      return silent.length === 0 ? true : null;
    },
    deadlineMs,
  );
}
