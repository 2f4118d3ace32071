import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { newId } from '../ids.ts';
import { first } from '../present.ts';

export interface Write {
  state: string;
  generation: string;
  backend: string;
}

/** Announces a write: from now on the collector leaves the content alone for the grace period. */
export async function beginWrite(
  tx: Tx,
  blob: { digest: string; bytes: number; backend: string },
): Promise<Write> {
  const { rows } = await sql<Write>`
    insert into blobs (digest, bytes, backend, state) values (${blob.digest}, ${blob.bytes}, ${blob.backend}, 'writing')
    on conflict (digest) do update set touched_at = now(),
      state = case blobs.state when 'removing' then 'writing' else blobs.state end,
      generation = case blobs.state when 'removing' then gen_random_uuid() else blobs.generation end
    returning state, generation, backend`.execute(tx);
  return first(rows, 'blob row');
}

/** False when the content may have been removed since the write began; the write must then begin again. */
export async function finishWrite(
  tx: Tx,
  digest: string,
  { generation }: Write,
  { written }: { written: boolean },
): Promise<boolean> {
  const row = await tx
    .updateTable('blobs')
    .set({ state: 'stored', touched_at: sql`now()` })
    .where('digest', '=', digest)
    .where('generation', '=', generation)
    .where('state', 'in', written ? ['stored', 'writing', 'corrupt'] : ['stored'])
    .returning('digest')
    .executeTakeFirst();
  return row !== undefined;
}

/** Lets the collector remove what a failed write left. Another writer of the same content begins again. */
export async function abandonWrite(tx: Tx, digest: string, { generation }: Write): Promise<void> {
  await tx
    .updateTable('blobs')
    .set({ state: 'removing' })
    .where('digest', '=', digest)
    .where('generation', '=', generation)
    .where('state', '=', 'writing')
    .execute();
}

export async function isHolder(tx: Tx, digest: string, tenantId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('blob_holders')
    .select('id')
    .where('digest', '=', digest)
    .where('organization_id', '=', tenantId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Makes the tenant a holder, or the platform with null; says whether it was none before. */
export async function addHolder(tx: Tx, digest: string, tenantId: string | null): Promise<boolean> {
  const { rows } = await sql<{ fresh: boolean }>`
    insert into blob_holders as h (id, organization_id, digest) values (${newId()}, ${tenantId}, ${digest})
    on conflict (digest, organization_id) do update
      set idle_since = case when h.idle_since is null then null else now() end
    returning xmax = 0 as fresh`.execute(tx);
  return first(rows, 'holder row').fresh;
}

export async function usedBytes(tx: Tx, tenantId: string): Promise<number> {
  const row = await tx
    .selectFrom('blob_usage')
    .select('bytes')
    .where('organization_id', '=', tenantId)
    .executeTakeFirst();
  return Number(row?.bytes ?? 0n);
}

export interface BlobRecord {
  digest: string;
  bytes: number;
  backend: string;
  state: string;
  generation: string;
  createdAt: Date;
}

export async function findRecord(tx: Tx, digest: string): Promise<BlobRecord | null> {
  const row = await tx.selectFrom('blobs').selectAll().where('digest', '=', digest).executeTakeFirst();
  if (!row) return null;
  const { bytes, backend, state, generation, created_at: createdAt } = row;
  return { digest, bytes: Number(bytes), backend, state, generation, createdAt };
}

/** False when it was written again since it was read. */
export async function recordCorrupt(tx: Tx, { digest, generation }: BlobRecord): Promise<boolean> {
  const row = await tx
    .updateTable('blobs')
    .set({ state: 'corrupt', touched_at: sql`now()` })
    .where('digest', '=', digest)
    .where('generation', '=', generation)
    .where('state', '=', 'stored')
    .returning('digest')
    .executeTakeFirst();
  return row !== undefined;
}
