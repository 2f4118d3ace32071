import { sql } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import { inScope } from '../db/scope.ts';

const BATCH = 100;

/**
 * Ends holdings that nothing has referred to for the grace period, and decides which content goes. Locks are taken in the
 * order of a write: blob, holder, usage.
 */
export async function endIdleHoldings(db: Db, graceSeconds: number): Promise<number> {
  return await inScope(db, { role: 'gpuaas_blobs' }, async (tx) => {
    const { rows: candidates } = await sql<{ id: string; digest: string }>`
      select id, digest from blob_holders where idle_since < now() - make_interval(secs => ${graceSeconds})
      order by idle_since limit ${BATCH}`.execute(tx);
    if (candidates.length === 0) return 0;
    const digests = await lockBlobs(tx, [...new Set(candidates.map(({ digest }) => digest))]);
    // A reference that is being written holds its holder; that content stays.
    const { rows: idle } = await sql<{ id: string }>`
      select id from blob_holders where id = any (${candidates.map(({ id }) => id)}::uuid[])
        and digest = any (${digests}) and idle_since < now() - make_interval(secs => ${graceSeconds})
      order by organization_id, id for update skip locked`.execute(tx);
    if (idle.length === 0) return 0;
    const ids = idle.map(({ id }) => id);
    await tx.deleteFrom('blob_holders').where('id', 'in', ids).execute();
    await sql`
      update blobs b set state = 'removing', touched_at = now() where b.digest = any (${digests})
        and not exists (select from blob_holders h where h.digest = b.digest)`.execute(tx);
    return idle.length;
  });
}

async function lockBlobs(tx: Tx, digests: readonly string[]): Promise<string[]> {
  const rows = await tx
    .selectFrom('blobs')
    .select('digest')
    .where('digest', 'in', digests)
    .orderBy('digest')
    .forUpdate()
    .skipLocked()
    .execute();
  return rows.map(({ digest }) => digest);
}

/** Content whose writer died goes too. */
export async function endAbandonedWrites(db: Db, graceSeconds: number): Promise<void> {
  await inScope(db, { role: 'gpuaas_blobs' }, async (tx) => {
    await sql`
      update blobs set state = 'removing' where state = 'writing'
        and touched_at < now() - make_interval(secs => ${graceSeconds})`.execute(tx);
  });
}

export async function listRemovable(db: Db): Promise<string[]> {
  return await inScope(db, { role: 'gpuaas_blobs' }, async (tx) => {
    const rows = await tx
      .selectFrom('blobs')
      .select('digest')
      .where('state', '=', 'removing')
      .orderBy('touched_at')
      .limit(BATCH)
      .execute();
    return rows.map(({ digest }) => digest);
  });
}

/**
 * Removes content and then its row, under the lock of the row: a writer that announces itself meanwhile waits, and writes
 * after the removal. A crash in between leaves a row that says `removing`.
 */
export async function removeContent(
  db: Db,
  digest: string,
  remove: (backend: string) => Promise<void>,
): Promise<boolean> {
  return await inScope(db, { role: 'gpuaas_blobs' }, async (tx) => {
    const row = await tx
      .selectFrom('blobs')
      .select('backend')
      .where('digest', '=', digest)
      .where('state', '=', 'removing')
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (!row) return false;
    await remove(row.backend);
    await tx.deleteFrom('blobs').where('digest', '=', digest).execute();
    return true;
  });
}
