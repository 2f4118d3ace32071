import { sql } from 'kysely';
import { dropBlobs } from '../../../../platform/blobs/keep-blob.ts';
import type { Db, Tx } from '../../../../platform/db/database.ts';
import type { Policies } from '../../../../platform/policy/policies.ts';
import type { Tick } from '../../../../platform/ticks/tick.ts';

const BATCH = 100;

/** Removes what no repository needs: uploads that were left, blobs that no manifest names, deleted repositories. */
export const collectRegistry: Tick<{ db: Db; policies: Policies }> = {
  name: 'registry.collect',
  everySeconds: 600,
  catchUp: 'skip',
  async run({ db, policies }) {
    const idle = policies.get('registry.upload_idle_seconds');
    const grace = policies.get('blobs.unreferenced_grace_seconds');
    await repeat(db, (tx) => endIdleUploads(tx, idle));
    await repeat(db, (tx) => removeUnnamedBlobs(tx, grace));
    await repeat(db, emptyDeletedRepository);
  },
};

async function repeat(db: Db, removeSome: (tx: Tx) => Promise<number>): Promise<void> {
  while ((await db.transaction().execute(removeSome)) > 0);
}

async function endIdleUploads(tx: Tx, idleSeconds: number): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select u.id from registry_uploads u
    where u.touched_at < now() - make_interval(secs => ${idleSeconds})
    order by u.touched_at limit ${BATCH} for update skip locked`.execute(tx);
  return await drop(tx, 'registry_upload', rows, 'registry_uploads');
}

/** A push that has seen a blob lately, or is naming it right now, keeps it. */
async function removeUnnamedBlobs(tx: Tx, graceSeconds: number): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select b.id from registry_blobs b
    where b.touched_at < now() - make_interval(secs => ${graceSeconds})
      and not exists (select from registry_manifest_blobs n
        where n.repository_id = b.repository_id and n.digest = b.digest)
    order by b.touched_at limit ${BATCH} for update of b skip locked`.execute(tx);
  // A manifest that was committed while the rows were locked is seen only now.
  const { rows: unnamed } = await sql<{ id: string }>`
    select b.id from registry_blobs b where b.id = any (${rows.map(({ id }) => id)}::uuid[])
      and b.touched_at < now() - make_interval(secs => ${graceSeconds})
      and not exists (select from registry_manifest_blobs n
        where n.repository_id = b.repository_id and n.digest = b.digest)`.execute(tx);
  return await drop(tx, 'registry_blob', unnamed, 'registry_blobs');
}

/** Content of one deleted repository, in the order in which its rows refer to each other, then the repository. */
async function emptyDeletedRepository(tx: Tx): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select id from registry_repositories where deleted_at is not null
    order by deleted_at limit 1 for update skip locked`.execute(tx);
  const [repository] = rows;
  if (!repository) return 0;
  const of = (table: 'registry_tags' | 'registry_manifest_children') =>
    tx.deleteFrom(table).where('repository_id', '=', repository.id).execute();
  await of('registry_tags');
  await of('registry_manifest_children');
  const some = async (table: Emptied) =>
    await tx.selectFrom(table).select('id').where('repository_id', '=', repository.id).limit(BATCH).execute();
  const removed =
    (await drop(tx, 'registry_upload', await some('registry_uploads'), 'registry_uploads')) ||
    (await drop(tx, 'registry_manifest', await some('registry_manifests'), 'registry_manifests')) ||
    (await drop(tx, 'registry_blob', await some('registry_blobs'), 'registry_blobs'));
  if (removed === 0) await tx.deleteFrom('registry_repositories').where('id', '=', repository.id).execute();
  return 1;
}

type Emptied = 'registry_uploads' | 'registry_blobs' | 'registry_manifests';

async function drop(
  tx: Tx,
  subjectType: string,
  rows: readonly { id: string }[],
  table: Emptied,
): Promise<number> {
  if (rows.length === 0) return 0;
  for (const { id } of rows) await dropBlobs(tx, { subjectType, subjectId: id });
  const ids = rows.map(({ id }) => id);
  await tx.deleteFrom(table).where('id', 'in', ids).execute();
  return rows.length;
}
