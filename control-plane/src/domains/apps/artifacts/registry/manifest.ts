import { isRecord } from '@gpuaas/contracts/is-record';
import { OciError } from './oci-error.ts';
import { isDigest } from './targets.ts';

export const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
/** More than builders make; each of them costs a row. */
const MAX_DESCRIPTORS = 1000;
/** They are repeated in the list of referrers. */
const MAX_ANNOTATION_BYTES = 65_536;
const MAX_TYPE = 255;

export const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const IMAGES = new Set([OCI_MANIFEST, 'application/vnd.docker.distribution.manifest.v2+json']);
export const OCI_INDEX = 'application/vnd.oci.image.index.v1+json';
const INDEXES = new Set([OCI_INDEX, 'application/vnd.docker.distribution.manifest.list.v2+json']);

export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

export interface Manifest {
  mediaType: string;
  artifactType: string | null;
  subject: string | null;
  annotations: Record<string, string> | null;
  /** Content that must be in the repository. */
  blobs: Descriptor[];
  /** Manifests that must be in the repository. */
  manifests: Descriptor[];
}

/** Checks a manifest that was pushed under a media type. */
export function parseManifest(content: Buffer, contentType: string): Manifest {
  const document = parseJson(content);
  const mediaType = text(document['mediaType'], 'mediaType') ?? contentType;
  if (mediaType !== contentType)
    throw invalid(`mediaType says ${mediaType}, and Content-Type ${contentType || 'nothing'}`);
  if (document['schemaVersion'] !== 2) throw invalid('schemaVersion is not 2');
  const isIndex = INDEXES.has(mediaType);
  if (!isIndex && !IMAGES.has(mediaType)) throw invalid('the registry does not know this media type');
  const config = isIndex ? null : descriptor(document['config'], 'config');
  const layers = isIndex ? [] : descriptors(document['layers'], 'layers');
  const subject = document['subject'] === undefined ? null : descriptor(document['subject'], 'subject');
  const stored = layers.filter(({ mediaType: type }) => !isElsewhere(type));
  return {
    mediaType,
    artifactType: text(document['artifactType'], 'artifactType') ?? config?.mediaType ?? null,
    subject: subject?.digest ?? null,
    annotations: annotationsOf(document['annotations']),
    blobs: unique(config ? [config, ...stored] : []),
    manifests: unique(isIndex ? descriptors(document['manifests'], 'manifests') : []),
  };
}

/** Layers whose license forbids to push them: they have their own addresses. */
function isElsewhere(mediaType: string): boolean {
  return mediaType.includes('.nondistributable.') || mediaType.includes('.foreign.');
}

function parseJson(content: Buffer): Record<string, unknown> {
  const document = jsonOf(content);
  if (!isRecord(document)) throw invalid('it is not a JSON object');
  return document;
}

/** Null for text that is not JSON, which is no object either. */
function jsonOf(content: Buffer): unknown {
  try {
    const document: unknown = JSON.parse(new TextDecoder('utf8', { fatal: true }).decode(content));
    return document;
  } catch {
    return null;
  }
}

function descriptors(value: unknown, where: string): Descriptor[] {
  if (!Array.isArray(value)) throw invalid(`${where} is not a list`);
  if (value.length > MAX_DESCRIPTORS) throw invalid(`${where} has more than ${MAX_DESCRIPTORS} members`);
  return value.map((one, index) => descriptor(one, `${where}[${index}]`));
}

function descriptor(value: unknown, where: string): Descriptor {
  if (!isRecord(value)) throw invalid(`${where} is not a descriptor`);
  const { digest, size } = value;
  const mediaType = text(value['mediaType'], `${where}.mediaType`);
  if (mediaType === null) throw invalid(`${where} has no mediaType`);
  if (typeof digest !== 'string' || !isDigest(digest)) throw invalid(`${where} has no sha256 digest`);
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw invalid(`${where} has no size`);
  return { mediaType, digest, size };
}

function unique(all: readonly Descriptor[]): Descriptor[] {
  return [...new Map(all.map((one) => [`${one.digest} ${one.size}`, one])).values()];
}

function annotationsOf(value: unknown): Record<string, string> | null {
  if (value === undefined || value === null) return null;
  if (!isRecord(value)) throw invalid('annotations is not an object');
  const found: Record<string, string> = {};
  for (const [name, one] of Object.entries(value)) {
    if (typeof one !== 'string') throw invalid('annotations has a value that is not text');
    if (name.includes('\0') || one.includes('\0')) throw invalid('annotations has a NUL character');
    found[name] = one.toWellFormed();
  }
  if (JSON.stringify(found).length > MAX_ANNOTATION_BYTES)
    throw invalid(`annotations has more than ${MAX_ANNOTATION_BYTES} bytes`);
  return found;
}

function text(value: unknown, where: string): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && value.length <= MAX_TYPE && /^[\x21-\x7e]+$/.test(value)) return value;
  throw invalid(`${where} is no media type`);
}

function invalid(what: string): OciError {
  return new OciError(400, 'MANIFEST_INVALID', `The manifest is not valid: ${what}.`);
}
