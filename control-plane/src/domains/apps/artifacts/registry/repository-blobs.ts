import { sql } from 'kysely';
import type { Tx } from '../../../../platform/db/database.ts';
import { dropBlobs, keepBlob } from '../../../../platform/blobs/keep-blob.ts';
import { newId } from '../../../../platform/ids.ts';
import { first } from '../../../../platform/present.ts';
import { OciError } from './oci-error.ts';
import type { Repository } from './repositories.ts';

const SUBJECT = 'registry_blob';
/** Well below the shortest grace period, and rare enough that looking at a blob seldom writes. */
const TOUCH_AFTER_SECONDS = 3600;

export interface StoredBlob {
  digest: string;
  bytes: number;
}

/** Adds stored content to a repository, and keeps it. */
export async function addBlob(tx: Tx, repository: Repository, { digest, bytes }: StoredBlob): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    insert into registry_blobs (id, organization_id, repository_id, digest, bytes)
    values (${newId()}, ${repository.organizationId}, ${repository.id}, ${digest}, ${bytes})
    on conflict (repository_id, digest) do update set touched_at = now() returning id`.execute(tx);
  const subjectId = first(rows, 'blob of the repository').id;
  await keepBlob(tx, { digest, tenantId: repository.organizationId, subjectType: SUBJECT, subjectId });
}

export async function findBlob(tx: Tx, { id }: Repository, digest: string): Promise<StoredBlob | null> {
  const row = await tx
    .selectFrom('registry_blobs')
    .select('bytes')
    .where('repository_id', '=', id)
    .where('digest', '=', digest)
    .executeTakeFirst();
  return row ? { digest, bytes: Number(row.bytes) } : null;
}

export async function requireBlob(tx: Tx, repository: Repository, digest: string): Promise<StoredBlob> {
  const blob = await findBlob(tx, repository, digest);
  if (!blob) throw new OciError(404, 'BLOB_UNKNOWN', 'The repository has no such blob.', { digest });
  return blob;
}

/** A client that finds a blob does not push it again, so the collector must leave it alone from now on. */
export async function touchBlob(tx: Tx, { id }: Repository, digest: string): Promise<void> {
  await tx
    .updateTable('registry_blobs')
    .set({ touched_at: sql`now()` })
    .where('repository_id', '=', id)
    .where('digest', '=', digest)
    .where('touched_at', '<', sql<Date>`now() - make_interval(secs => ${TOUCH_AFTER_SECONDS})`)
    .execute();
}

/** Takes a blob from a repository; one that a manifest names stays. */
export async function removeBlob(tx: Tx, { id }: Repository, digest: string): Promise<void> {
  const row = await tx
    .selectFrom('registry_blobs')
    .select('id')
    .where('repository_id', '=', id)
    .where('digest', '=', digest)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw new OciError(404, 'BLOB_UNKNOWN', 'The repository has no such blob.', { digest });
  const named = await tx
    .selectFrom('registry_manifest_blobs')
    .select('manifest_id')
    .where('repository_id', '=', id)
    .where('digest', '=', digest)
    .executeTakeFirst();
  if (named) throw new OciError(405, 'UNSUPPORTED', 'A manifest names this blob. Delete the manifest first.');
  await dropBlobs(tx, { subjectType: SUBJECT, subjectId: row.id });
  await tx.deleteFrom('registry_blobs').where('id', '=', row.id).execute();
}
