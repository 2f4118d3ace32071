import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../../../platform/auth/caller.ts';
import type { Blobs } from '../../../../platform/blobs/blobs.ts';
import type { Tx } from '../../../../platform/db/database.ts';
import { inScope } from '../../../../platform/db/scope.ts';
import type { Services } from '../../../../platform/services.ts';
import { OciError } from './oci-error.ts';
import { hasBody, receiveBody } from './receive-body.ts';
import { findRepository, type Repository } from './repositories.ts';
import { addBlob, type StoredBlob } from './repository-blobs.ts';
import type { RepositoryPath } from './targets.ts';
import { appendChunk, chunksOf, endUpload, findUpload, outOfOrder, type Upload } from './uploads.ts';

type Store = Pick<Services, 'db' | 'blobs' | 'policies'>;

export interface OpenUpload {
  repository: Repository;
  upload: Upload;
}

/** An open upload to which the caller may push. */
export async function readUpload(
  { db }: Store,
  caller: Caller,
  target: { repository: RepositoryPath; uploadId: string },
): Promise<OpenUpload> {
  return await inScope(db, caller.scope, async (tx) => {
    const repository = await findRepository(tx, caller, 'registry.push', target.repository);
    return { repository, upload: await findUpload(tx, repository, target.uploadId) };
  });
}

/** Stores a whole blob that arrives in one request. */
export async function putWhole(
  store: Store,
  caller: Caller,
  repository: Repository,
  request: IncomingMessage,
  digest: string,
): Promise<void> {
  const tenantId = repository.organizationId;
  const stored = await store.blobs.put(receiveBody(request), {
    tenantId,
    maxBytes: maxBytes(store, repository),
    expectedDigest: digest,
  });
  await inScope(store.db, caller.scope, (tx) => addBlob(tx, repository, stored));
}

/** Stores the body as the next chunk. The chunk counts only when all of it is there. */
export async function receiveChunk(
  store: Store,
  caller: Caller,
  { repository, upload }: OpenUpload,
  request: IncomingMessage,
): Promise<Upload> {
  const range = contentRange(request.headers['content-range']);
  if (range && range.first !== upload.bytes) throw outOfOrder(upload);
  const stored = await store.blobs.put(receiveBody(request), {
    tenantId: repository.organizationId,
    maxBytes: maxBytes(store, repository) - upload.bytes,
  });
  if (range && range.last - range.first + 1 !== stored.bytes)
    throw new OciError(400, 'SIZE_INVALID', 'The body is not as long as Content-Range says.');
  return await inScope(store.db, caller.scope, (tx) => appendChunk(tx, repository, upload, stored));
}

/** Ends an upload, with the rest of its content in the body, and adds the blob to the repository. */
export async function finishUpload(
  store: Store,
  caller: Caller,
  open: OpenUpload,
  request: IncomingMessage,
  digest: string,
): Promise<void> {
  const { repository } = open;
  const upload = hasBody(request) ? await receiveChunk(store, caller, open, request) : open.upload;
  const chunks = await inScope(store.db, caller.scope, (tx) => chunksOf(tx, upload));
  const blob = await joinChunks(store, repository, chunks, digest);
  await inScope(store.db, caller.scope, async (tx: Tx) => {
    const now = await findUpload(tx, repository, upload.id, { lock: true });
    if (now.bytes !== upload.bytes) throw outOfOrder(now);
    await addBlob(tx, repository, blob);
    await endUpload(tx, upload);
  });
}

/** The usual client sends one chunk, which is stored under its digest already. */
async function joinChunks(
  store: Store,
  repository: Repository,
  chunks: readonly StoredBlob[],
  expectedDigest: string,
): Promise<StoredBlob> {
  const [only, ...others] = chunks;
  if (only && others.length === 0) {
    if (only.digest === expectedDigest) return only;
    throw new OciError(400, 'DIGEST_INVALID', `The content is ${only.digest}, not ${expectedDigest}.`);
  }
  return await store.blobs.put(contentOf(store.blobs, chunks), {
    tenantId: repository.organizationId,
    maxBytes: maxBytes(store, repository),
    expectedDigest,
  });
}

async function* contentOf(blobs: Blobs, chunks: readonly StoredBlob[]): AsyncGenerator<Buffer> {
  for (const { digest } of chunks) {
    const content: AsyncIterable<Buffer> = await blobs.open(digest);
    yield* content;
  }
}

function maxBytes({ policies }: Store, { organizationId }: Repository): number {
  return policies.get('registry.max_blob_bytes', organizationId === null ? {} : { organizationId });
}

/** `0-99`, as chunks have it; other forms of the header mean nothing here. */
function contentRange(header: string | undefined): { first: number; last: number } | null {
  if (header === undefined) return null;
  const match = /^(?:bytes[ =])?(\d{1,15})-(\d{1,15})(?:\/\S*)?$/.exec(header);
  const [first, last] = [Number(match?.[1]), Number(match?.[2])];
  if (match && first <= last) return { first, last };
  throw new OciError(416, 'RANGE_INVALID', 'Content-Range is <first byte>-<last byte>.');
}
