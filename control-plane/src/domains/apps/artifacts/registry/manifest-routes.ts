import { createHash } from 'node:crypto';
import { inScope } from '../../../../platform/db/scope.ts';
import { auditChange } from './audit-push.ts';
import type { Exchange } from './blob-routes.ts';
import { MAX_MANIFEST_BYTES, OCI_INDEX, parseManifest } from './manifest.ts';
import { addManifest, removeManifest, requireManifest } from './manifests.ts';
import { OciError } from './oci-error.ts';
import { receiveAll } from './receive-body.ts';
import { listReferrers } from './referrers.ts';
import { ensureRepository, findRepository } from './repositories.ts';
import { listTagNames, moveTag, removeTag } from './tags.ts';
import { isDigest, type Target } from './targets.ts';

type Of<Kind extends Target['kind']> = Extract<Target, { kind: Kind }>;

const MAX_TAGS = 1000;

export async function serveManifest(exchange: Exchange<Of<'manifest'>>) {
  switch (exchange.request.method) {
    case 'PUT':
      return await putManifest(exchange);
    case 'DELETE':
      return await deleteManifest(exchange);
    default:
      return await getManifest(exchange);
  }
}

async function getManifest({ services, caller, target, request, reply }: Exchange<Of<'manifest'>>) {
  const manifest = await inScope(services.db, caller.scope, async (tx) => {
    const repository = await findRepository(tx, caller, 'registry.read', target.repository);
    return await requireManifest(tx, repository, target.reference);
  });
  reply
    .type(manifest.mediaType)
    .header('docker-content-digest', manifest.digest)
    .header('etag', `"${manifest.digest}"`)
    .header('content-length', String(manifest.bytes));
  if (request.method === 'HEAD') return await reply.send();
  return await reply.send(await services.blobs.open(manifest.digest));
}

/** Stores a manifest by its digest; a tag moves there in the same transaction. */
async function putManifest({ services, caller, target, request, reply }: Exchange<Of<'manifest'>>) {
  const { reference } = target;
  const organizationId = await inScope(services.db, caller.scope, async (tx) => {
    const repository = await ensureRepository(services, tx, caller, target.repository);
    return repository.organizationId;
  });
  const content = await receiveAll(request.raw, MAX_MANIFEST_BYTES);
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  if (isDigest(reference) && reference !== digest)
    throw new OciError(400, 'DIGEST_INVALID', `The manifest is ${digest}, not ${reference}.`);
  const manifest = parseManifest(content, mediaTypeOf(request.headers['content-type']));
  const stored = await services.blobs.put(content, {
    tenantId: organizationId,
    maxBytes: MAX_MANIFEST_BYTES,
    expectedDigest: digest,
  });
  const path = await inScope(services.db, caller.scope, async (tx) => {
    const repository = await ensureRepository(services, tx, caller, target.repository);
    await addManifest(tx, caller, repository, manifest, stored);
    const tag = isDigest(reference) ? null : { name: reference, digest };
    const former = tag && (await moveTag(services, tx, caller, repository, tag));
    await auditChange(tx, request, caller, repository, {
      action: 'registry.push',
      ...(former === null ? {} : { before: { digest: former } }),
      after: { digest },
      detail: { tag: tag?.name ?? null, media_type: manifest.mediaType },
    });
    return repository.path;
  });
  if (manifest.subject !== null) reply.header('oci-subject', manifest.subject);
  return await reply
    .code(201)
    .header('location', `/v2/${path}/manifests/${digest}`)
    .header('docker-content-digest', digest)
    .send();
}

async function deleteManifest({ services, caller, target, request, reply }: Exchange<Of<'manifest'>>) {
  const { reference } = target;
  await inScope(services.db, caller.scope, async (tx) => {
    const repository = await findRepository(tx, caller, 'registry.delete', target.repository);
    const digest = isDigest(reference)
      ? (await removeManifest(tx, repository, reference)).digest
      : await removeTag(tx, repository, reference);
    await auditChange(tx, request, caller, repository, {
      action: 'registry.delete',
      before: { digest },
      detail: { tag: isDigest(reference) ? null : reference },
    });
  });
  return await reply.code(202).send();
}

export async function serveTags({ services, caller, target, query, reply }: Exchange<Of<'tags'>>) {
  const limit = pageSize(query.get('n'));
  const names = await inScope(services.db, caller.scope, async (tx) => {
    const repository = await findRepository(tx, caller, 'registry.read', target.repository);
    return await listTagNames(tx, repository, { limit, last: query.get('last') ?? undefined });
  });
  const tags = names.slice(0, limit);
  const last = tags.at(-1);
  const { path } = target.repository;
  if (names.length > limit && last !== undefined)
    reply.header('link', `</v2/${path}/tags/list?n=${limit}&last=${last}>; rel="next"`);
  return await reply.type('application/json').send(JSON.stringify({ name: path, tags }));
}

function pageSize(text: string | null): number {
  if (text === null) return MAX_TAGS;
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text), MAX_TAGS);
  throw new OciError(400, 'UNSUPPORTED', 'n is not a number.');
}

export async function serveReferrers({ services, caller, target, query, reply }: Exchange<Of<'referrers'>>) {
  const artifactType = query.get('artifactType');
  const last = query.get('last');
  const { digest, repository: path } = target;
  const { index, next } = await inScope(services.db, caller.scope, async (tx) => {
    const repository = await findRepository(tx, caller, 'registry.read', path);
    return await listReferrers(tx, repository, {
      digest,
      ...(artifactType === null ? {} : { artifactType }),
      ...(last === null ? {} : { last }),
    });
  });
  if (artifactType !== null) reply.header('oci-filters-applied', 'artifactType');
  if (next !== null) {
    const filter = artifactType === null ? '' : `&artifactType=${encodeURIComponent(artifactType)}`;
    reply.header('link', `</v2/${path.path}/referrers/${digest}?last=${next}${filter}>; rel="next"`);
  }
  // As bytes: fastify adds a charset to text, which this media type does not have.
  return await reply.type(OCI_INDEX).send(Buffer.from(JSON.stringify(index)));
}

function mediaTypeOf(header: string | undefined): string {
  return header?.split(';', 1)[0]?.trim() ?? '';
}
