import { createHash } from 'node:crypto';
import { isRecord } from '@gpuaas/contracts/is-record';
import { TaskError } from '../../../tasks/task-error.ts';

/** Location of an image's bytes, and the digest they must have. */
export interface ImageBlob {
  url: string;
  headers: Record<string, string>;
  /** Of the bytes themselves; in a registry the image's own digest is that of its manifest. */
  sha256: string;
  /** Ties the bytes to the image's digest; null where both are the same. */
  manifest: string | null;
}

const MANIFESTS =
  'application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json';
const DEADLINE_MS = 30_000;
const MAX_MANIFEST = 4 * 1024 * 1024;

/**
 * A source is `https://images.example/{digest}.qcow2`, or `oci://registry.example/path` for a registry whose
 * image has one layer: the disk. `http://` and `oci+http://` work without TLS, because the digest proves the
 * content.
 */
export async function locateImage(source: string, digest: string): Promise<ImageBlob> {
  if (/^https?:\/\//.test(source)) {
    const url = source.replaceAll('{digest}', digest.replace(':', '-'));
    return { url, headers: {}, sha256: digestHex(digest), manifest: null };
  }
  const [, plain, registry, repository] = /^oci(\+http)?:\/\/([^/]+)\/(.+?)\/?$/.exec(source) ?? [];
  if (!registry || !repository) throw new TaskError('image_unavailable', `${source} is no source of images`);
  const api = `${plain ? 'http' : 'https'}://${registry}/v2/${repository}`;
  return await locateInRegistry(api, digest);
}

async function locateInRegistry(api: string, digest: string): Promise<ImageBlob> {
  const url = `${api}/manifests/${digest}`;
  let headers: Record<string, string> = {};
  let answer = await get(url, headers);
  if (answer.status === 401) {
    headers = await anonymousToken(answer.headers.get('www-authenticate') ?? '');
    answer = await get(url, headers);
  }
  if (!answer.ok) throw new TaskError('image_unavailable', `${url} answers ${answer.status}`);
  const manifest = await answer.text();
  const layer = findLayer(manifest, digest);
  return { url: `${api}/blobs/sha256:${layer}`, headers, sha256: layer, manifest };
}

/** The hash of the one layer of a manifest that has this digest. */
export function findLayer(manifest: string, digest: string): string {
  if (manifest.length > MAX_MANIFEST || sha256(manifest) !== digestHex(digest)) {
    throw new TaskError('image_digest_mismatch', `the manifest of ${digest} has another digest`);
  }
  const parsed: unknown = JSON.parse(manifest);
  const layers: unknown[] = isRecord(parsed) && Array.isArray(parsed['layers']) ? parsed['layers'] : [];
  const [layer] = layers;
  const named = isRecord(layer) && typeof layer['digest'] === 'string' ? layer['digest'] : '';
  const hex = /^sha256:([0-9a-f]{64})$/.exec(named)?.[1];
  if (!hex || layers.length !== 1) {
    throw new TaskError('image_unavailable', `${digest} has ${layers.length} layers; a disk image has one`);
  }
  return hex;
}

/** As the distribution specification defines it: the registry names its token server. */
async function anonymousToken(challenge: string): Promise<Record<string, string>> {
  const field = (name: string): string | null => new RegExp(`${name}="([^"]+)"`).exec(challenge)?.[1] ?? null;
  const realm = field('realm');
  if (!/^bearer /i.test(challenge) || !realm) {
    throw new TaskError('image_unavailable', 'the registry wants a login');
  }
  const url = new URL(realm);
  for (const name of ['service', 'scope']) {
    const value = field(name);
    if (value) url.searchParams.set(name, value);
  }
  const answer = await get(url.href, {});
  const body: unknown = await answer.json();
  const token = isRecord(body) ? (body['token'] ?? body['access_token']) : null;
  if (!answer.ok || typeof token !== 'string')
    throw new TaskError('image_unavailable', `${url.origin} gives no token`);
  return { authorization: `Bearer ${token}` };
}

async function get(url: string, headers: Record<string, string>): Promise<Response> {
  try {
    return await fetch(url, {
      headers: { accept: MANIFESTS, ...headers },
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
  } catch (error) {
    throw new TaskError('image_unavailable', `${url} cannot be reached: ${rootCause(error)}`);
  }
}

export function rootCause(error: unknown): string {
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error);
}

export function digestHex(digest: string): string {
  return digest.replace(/^sha256:/, '');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
