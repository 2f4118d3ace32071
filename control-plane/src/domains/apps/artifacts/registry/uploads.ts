import { sql } from 'kysely';
import type { Tx } from '../../../../platform/db/database.ts';
import { dropBlobs, keepBlob } from '../../../../platform/blobs/keep-blob.ts';
import { Problem } from '../../../../platform/http/problem.ts';
import { newId } from '../../../../platform/ids.ts';
import type { Policies } from '../../../../platform/policy/policies.ts';
import { OciError } from './oci-error.ts';
import type { Repository } from './repositories.ts';
import type { StoredBlob } from './repository-blobs.ts';

const SUBJECT = 'registry_upload';

export interface Upload {
  id: string;
  /** Received so far: where the next chunk begins. */
  bytes: number;
}

export async function startUpload(
  { policies }: { policies: Policies },
  tx: Tx,
  { id: repositoryId, organizationId, projectId }: Repository,
): Promise<Upload> {
  if (organizationId !== null && projectId !== null) {
    const maximum = policies.get('registry.max_uploads_per_project', { organizationId });
    const lock = `registry_uploads ${projectId}`;
    await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(tx);
    const { count } = await tx
      .selectFrom('registry_uploads as u')
      .innerJoin('registry_repositories as r', 'r.id', 'u.repository_id')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('r.project_id', '=', projectId)
      .executeTakeFirstOrThrow();
    if (count >= maximum) throw new Problem('limit_reached', `The project may have ${maximum} open uploads.`);
  }
  const id = newId();
  await tx
    .insertInto('registry_uploads')
    .values({ id, organization_id: organizationId, repository_id: repositoryId })
    .execute();
  return { id, bytes: 0 };
}

export async function findUpload(
  tx: Tx,
  repository: Repository,
  id: string,
  { lock = false } = {},
): Promise<Upload> {
  const row = await tx
    .selectFrom('registry_uploads')
    .select('bytes')
    .where('id', '=', id)
    .where('repository_id', '=', repository.id)
    .$if(lock, (q) => q.forUpdate())
    .executeTakeFirst();
  if (!row) throw new OciError(404, 'BLOB_UPLOAD_UNKNOWN', 'There is no such upload.');
  return { id, bytes: Number(row.bytes) };
}

/** Appends a stored chunk; refuses it if another request has appended one since the upload was read. */
export async function appendChunk(
  tx: Tx,
  repository: Repository,
  read: Upload,
  { digest, bytes }: StoredBlob,
): Promise<Upload> {
  const upload = await findUpload(tx, repository, read.id, { lock: true });
  if (upload.bytes !== read.bytes) throw outOfOrder(upload);
  if (bytes === 0) return upload;
  await tx
    .insertInto('registry_upload_chunks')
    .values({
      organization_id: repository.organizationId,
      upload_id: upload.id,
      begins_at: BigInt(upload.bytes),
      bytes: BigInt(bytes),
      digest,
    })
    .execute();
  const tenantId = repository.organizationId;
  await keepBlob(tx, { digest, tenantId, subjectType: SUBJECT, subjectId: upload.id });
  const total = upload.bytes + bytes;
  await tx
    .updateTable('registry_uploads')
    .set({ bytes: BigInt(total), touched_at: sql`now()` })
    .where('id', '=', upload.id)
    .execute();
  return { id: upload.id, bytes: total };
}

export async function chunksOf(tx: Tx, { id }: Upload): Promise<StoredBlob[]> {
  const rows = await tx
    .selectFrom('registry_upload_chunks')
    .select(['digest', 'bytes'])
    .where('upload_id', '=', id)
    .orderBy('begins_at')
    .execute();
  return rows.map(({ digest, bytes }) => ({ digest, bytes: Number(bytes) }));
}

/** Ends an upload; its chunks are collected unless something else keeps them. */
export async function endUpload(tx: Tx, { id }: Upload): Promise<void> {
  await dropBlobs(tx, { subjectType: SUBJECT, subjectId: id });
  await tx.deleteFrom('registry_uploads').where('id', '=', id).execute();
}

export function outOfOrder({ bytes }: Upload): OciError {
  return new OciError(416, 'RANGE_INVALID', `The next chunk begins at byte ${bytes}.`, { next: bytes });
}
