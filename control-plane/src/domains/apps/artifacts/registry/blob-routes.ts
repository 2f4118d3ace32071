import type { FastifyReply, FastifyRequest } from 'fastify';
import { permissionsAt, type Caller } from '../../../../platform/auth/caller.ts';
import { inScope } from '../../../../platform/db/scope.ts';
import { Problem } from '../../../../platform/http/problem.ts';
import type { Services } from '../../../../platform/services.ts';
import { OciError } from './oci-error.ts';
import { finishUpload, putWhole, readUpload, receiveChunk } from './put-blob.ts';
import { parseRange } from './range.ts';
import { hasBody } from './receive-body.ts';
import { ensureRepository, findRepository, type Repository } from './repositories.ts';
import {
  addBlob,
  findBlob,
  removeBlob,
  requireBlob,
  touchBlob,
  type StoredBlob,
} from './repository-blobs.ts';
import { parseRepository, requireDigest, type RepositoryPath, type Target } from './targets.ts';
import { endUpload, startUpload, type Upload } from './uploads.ts';

type Of<Kind extends Target['kind']> = Extract<Target, { kind: Kind }>;

export interface Exchange<T> {
  services: Services;
  caller: Caller;
  target: T;
  query: URLSearchParams;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** `POST …/blobs/uploads/`: a mount, a whole blob, or the begin of an upload. */
export async function beginUpload({
  services,
  caller,
  target,
  query,
  request,
  reply,
}: Exchange<Of<'uploads'>>) {
  const mounted = query.get('mount');
  const from = query.get('from');
  const digest = query.get('digest');
  const repository = await inScope(services.db, caller.scope, (tx) =>
    ensureRepository(services, tx, caller, target.repository),
  );
  if (mounted !== null) {
    const wanted = requireDigest(mounted);
    const source = from === null ? null : parseRepository(from.split('/'));
    if (source && (await mount(services, caller, repository, source, wanted)))
      return await created(reply, repository, wanted);
  } else if (digest !== null && hasBody(request.raw)) {
    await putWhole(services, caller, repository, request.raw, requireDigest(digest));
    return await created(reply, repository, digest);
  }
  const upload = await inScope(services.db, caller.scope, (tx) => startUpload(services, tx, repository));
  return await reply.code(202).headers(progressOf(repository, upload)).send();
}

/** Adds a blob of another repository, if the caller may pull it there and the same tenant holds it. */
async function mount(
  { db }: Services,
  caller: Caller,
  repository: Repository,
  from: RepositoryPath,
  digest: string,
): Promise<boolean> {
  return await inScope(db, caller.scope, async (tx) => {
    try {
      const source = await findRepository(tx, caller, 'registry.read', from);
      if (source.organizationId !== repository.organizationId) return false;
      const blob = await findBlob(tx, source, digest);
      if (blob) await addBlob(tx, repository, blob);
      return blob !== null;
    } catch (error) {
      // A source that the caller cannot see is none: the client pushes the content instead.
      if (error instanceof OciError || error instanceof Problem) return false;
      throw error;
    }
  });
}

export async function serveUpload(exchange: Exchange<Of<'upload'>>) {
  const { services, caller, target, query, request, reply } = exchange;
  const open = await readUpload(services, caller, target);
  const { repository } = open;
  switch (request.method) {
    case 'PATCH': {
      const upload = await receiveChunk(services, caller, open, request.raw);
      return await reply.code(202).headers(progressOf(repository, upload)).send();
    }
    case 'PUT': {
      const digest = requireDigest(query.get('digest') ?? '');
      await finishUpload(services, caller, open, request.raw, digest);
      return await created(reply, repository, digest);
    }
    case 'DELETE':
      await inScope(services.db, caller.scope, (tx) => endUpload(tx, open.upload));
      return await reply.code(204).send();
    default:
      return await reply.code(204).headers(progressOf(repository, open.upload)).send();
  }
}

export async function serveBlob(exchange: Exchange<Of<'blob'>>) {
  const { services, caller, target, request, reply } = exchange;
  const { digest } = target;
  if (request.method === 'DELETE') {
    await inScope(services.db, caller.scope, async (tx) => {
      await removeBlob(tx, await findRepository(tx, caller, 'registry.delete', target.repository), digest);
    });
    return await reply.code(202).send();
  }
  const isLook = request.method === 'HEAD';
  const blob = await inScope(services.db, caller.scope, async (tx): Promise<StoredBlob> => {
    const repository = await findRepository(tx, caller, 'registry.read', target.repository);
    const found = await requireBlob(tx, repository, digest);
    if (isLook && mayPush(caller, repository)) await touchBlob(tx, repository, digest);
    return found;
  });
  reply
    .type('application/octet-stream')
    .header('accept-ranges', 'bytes')
    .header('docker-content-digest', digest)
    .header('etag', `"${digest}"`);
  if (isLook) return await reply.header('content-length', String(blob.bytes)).send();
  const part = parseRange(request.headers.range, blob.bytes);
  if (!part)
    return await reply.header('content-length', String(blob.bytes)).send(await services.blobs.open(digest));
  const bytes = part.last - part.first + 1;
  return await reply
    .code(206)
    .header('content-range', `bytes ${part.first}-${part.last}/${blob.bytes}`)
    .header('content-length', String(bytes))
    .send(await services.blobs.openPart(digest, part));
}

function mayPush({ bindings }: Caller, { organizationId, projectId }: Repository): boolean {
  if (organizationId === null || projectId === null) return false;
  return permissionsAt(bindings, { kind: 'project', organizationId, projectId }).has('registry.push');
}

async function created(reply: FastifyReply, { path }: Repository, digest: string) {
  return await reply
    .code(201)
    .header('location', `/v2/${path}/blobs/${digest}`)
    .header('docker-content-digest', digest)
    .send();
}

function progressOf({ path }: Repository, { id, bytes }: Upload): Record<string, string> {
  return {
    location: `/v2/${path}/blobs/uploads/${id}`,
    // Nothing received has no range; clients expect this one.
    range: `0-${Math.max(0, bytes - 1)}`,
    'docker-upload-uuid': id,
    'oci-chunk-min-length': '0',
  };
}
