import { isUuid } from '../../../../platform/ids.ts';
import { OciError } from './oci-error.ts';

/** A repository as clients name it: `<project id>/<name>`, or `system/<name>` for the platform's own. */
export interface RepositoryPath {
  /** Null for the platform's own. */
  projectId: string | null;
  name: string;
  path: string;
}

/** What a URL below `/v2/` is about. */
export type Target =
  | { kind: 'version' }
  | { kind: 'token' }
  | { kind: 'uploads'; repository: RepositoryPath }
  | { kind: 'upload'; repository: RepositoryPath; uploadId: string }
  | { kind: 'blob'; repository: RepositoryPath; digest: string }
  | { kind: 'manifest'; repository: RepositoryPath; reference: string }
  | { kind: 'tags'; repository: RepositoryPath }
  | { kind: 'referrers'; repository: RepositoryPath; digest: string };

const MAX_PATH = 255;
const MAX_NAME = 200;
const COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;

/** Reads the path of a request; throws the refusal of a client that asks for something else. */
export function parseTarget(url: string): Target {
  const path = decoded(url.split('?', 1)[0] ?? '');
  if (path === '/v2' || path === '/v2/') return { kind: 'version' };
  if (path === '/v2/token') return { kind: 'token' };
  const parts = path.slice('/v2/'.length).split('/');
  const [last = '', before = '', uploads = ''] = parts.toReversed();
  if (uploads === 'blobs' && before === 'uploads')
    return last === ''
      ? { kind: 'uploads', repository: parseRepository(parts.slice(0, -3)) }
      : { kind: 'upload', repository: parseRepository(parts.slice(0, -3)), uploadId: requireUpload(last) };
  if (before === 'blobs' && last === 'uploads')
    return { kind: 'uploads', repository: parseRepository(parts.slice(0, -2)) };
  const repository = (): RepositoryPath => parseRepository(parts.slice(0, -2));
  switch (before) {
    case 'blobs':
      return { kind: 'blob', repository: repository(), digest: requireDigest(last) };
    case 'manifests':
      return { kind: 'manifest', repository: repository(), reference: requireReference(last) };
    case 'referrers':
      return { kind: 'referrers', repository: repository(), digest: requireDigest(last) };
    case 'tags':
      if (last === 'list') return { kind: 'tags', repository: repository() };
  }
  throw new OciError(404, 'UNSUPPORTED', 'The registry has nothing at this path.');
}

/** `<project id>/<name>`, of a query or of a path. */
export function parseRepository(parts: readonly string[]): RepositoryPath {
  const path = parts.join('/');
  const [owner = '', ...names] = parts;
  const name = names.join('/');
  const isOwner = owner === 'system' || (isUuid(owner) && owner === owner.toLowerCase());
  if (path.length > MAX_PATH || name.length > MAX_NAME || !names.every((part) => COMPONENT.test(part)))
    throw new OciError(400, 'NAME_INVALID', 'This is no name of a repository.');
  if (!isOwner || name === '')
    throw new OciError(404, 'NAME_UNKNOWN', 'Repositories are named <project id>/<name> or system/<name>.');
  return { projectId: owner === 'system' ? null : owner, name, path };
}

export function requireDigest(text: string): string {
  if (DIGEST.test(text)) return text;
  throw new OciError(400, 'DIGEST_INVALID', 'A digest is sha256: and 64 hexadecimal digits in lower case.');
}

export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

function requireReference(text: string): string {
  if (text.includes(':')) return requireDigest(text);
  if (TAG.test(text)) return text;
  throw new OciError(
    400,
    'TAG_INVALID',
    'A tag has at most 128 letters, digits, dots, dashes and underscores.',
  );
}

function requireUpload(text: string): string {
  if (isUuid(text)) return text;
  throw new OciError(404, 'BLOB_UPLOAD_UNKNOWN', 'There is no such upload.');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new OciError(400, 'NAME_INVALID', 'The path is not encoded properly.');
  }
}
