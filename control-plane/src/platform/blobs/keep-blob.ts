import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { withRole } from '../db/scope.ts';
import { BlobError } from './blob-error.ts';
import { given } from '../db/given.ts';

/** The row that keeps a blob. */
export interface BlobSubject {
  subjectType: string;
  subjectId: string;
}

/**
 * Keeps a blob for a row, in the transaction that writes the row. Refuses content that the tenant has not stored, so that
 * nobody reaches another tenant's content by its digest.
 */
export async function keepBlob(
  tx: Tx,
  { digest, tenantId, subjectType, subjectId }: BlobSubject & { digest: string; tenantId: string | null },
): Promise<void> {
  await withRole(tx, 'gpuaas_blobs', async () => {
    const { rows } = await sql<{ id: string }>`
      update blob_holders set idle_since = null
      where digest = ${digest} and organization_id is not distinct from ${tenantId}::uuid returning id`.execute(
      tx,
    );
    const [holder] = rows;
    if (!holder) throw new BlobError('missing', `${digest} is not stored`);
    await tx
      .insertInto('blob_references')
      .values({ holder_id: holder.id, subject_type: subjectType, subject_id: subjectId })
      .onConflict((c) => c.doNothing())
      .execute();
  });
}

/** Ends the references of a row, or one of them. Content without any is collected after the grace period. */
export async function dropBlobs(
  tx: Tx,
  { subjectType, subjectId, digest }: BlobSubject & { digest?: string },
): Promise<void> {
  await withRole(tx, 'gpuaas_blobs', async () => {
    const held = await tx
      .selectFrom('blob_holders as h')
      .innerJoin('blob_references as r', 'r.holder_id', 'h.id')
      .select('h.id')
      .where('r.subject_type', '=', subjectType)
      .where('r.subject_id', '=', subjectId)
      .$call(given(digest, (q, value) => q.where('h.digest', '=', value)))
      .orderBy('h.id')
      .forUpdate('h')
      .execute();
    const ids = held.map(({ id }) => id);
    if (ids.length === 0) return;
    await tx
      .deleteFrom('blob_references')
      .where('holder_id', 'in', ids)
      .where('subject_type', '=', subjectType)
      .where('subject_id', '=', subjectId)
      .execute();
    await sql`
      update blob_holders h set idle_since = now()
      where h.id = any (${ids}::uuid[]) and not exists (select from blob_references r where r.holder_id = h.id)`.execute(
      tx,
    );
  });
}
