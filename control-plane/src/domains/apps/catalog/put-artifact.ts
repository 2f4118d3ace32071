import type { Readable } from 'node:stream';
import type { Caller } from '../../../platform/auth/caller.ts';
import { BlobError } from '../../../platform/blobs/blob-error.ts';
import { keepBlob } from '../../../platform/blobs/keep-blob.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { ArtifactRow } from '../artifacts/move-artifact.ts';

/** Receives the content of a payload before the transaction that records it. */
export async function receiveArtifact(
  { blobs }: Pick<Services, 'blobs'>,
  content: Readable,
  digest: string,
  maxBytes: number,
): Promise<{ bytes: number }> {
  try {
    return await blobs.put(content, { tenantId: null, maxBytes, expectedDigest: digest });
  } catch (error) {
    if (!(error instanceof BlobError)) throw error;
    if (error.code === 'digest_mismatch')
      throw new Problem('artifact_digest_mismatch', `What was sent ends as ${error.message}.`);
    if (error.code === 'too_large')
      throw new Problem('artifact_too_large', `A payload has at most ${maxBytes} bytes.`);
    throw new Problem('service_unavailable', 'The content store does not take content now.', {
      cause: error,
      retryAfterSeconds: 30,
    });
  }
}

/** Records a payload, and keeps its content from then on. */
export async function recordArtifact(
  tx: Tx,
  caller: Caller,
  { digest, bytes }: { digest: string; bytes: number },
): Promise<ArtifactRow> {
  await tx
    .insertInto('app_artifacts')
    .values({
      id: newId(),
      digest,
      payload_digest: digest,
      bytes: BigInt(bytes),
      state_reason: 'Uploaded',
      uploaded_by: caller.id,
      uploaded_by_name: caller.name.slice(0, 320),
    })
    .onConflict((c) => c.column('digest').doNothing())
    .execute();
  const row = await tx
    .selectFrom('app_artifacts')
    .selectAll()
    .where('digest', '=', digest)
    .executeTakeFirstOrThrow();
  if (row.state === 'retired') throw new Problem('artifact_state', `${digest} was retired.`);
  await keepBlob(tx, { digest, tenantId: null, subjectType: 'app_artifact', subjectId: row.id });
  return row;
}
