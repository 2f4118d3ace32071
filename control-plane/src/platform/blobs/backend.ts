import type { Readable } from 'node:stream';

/** Bytes of the content, the last one included. */
export interface BlobPart {
  first: number;
  last: number;
}

/** A place that keeps content by digest. Every call may be repeated. */
export interface BlobBackend {
  readonly name: 'folder' | 's3';
  /** Largest content that it takes. */
  readonly maxBytes: number;
  /** Bytes of the content, null without it. */
  size(digest: string): Promise<number | null>;
  /** Puts a file in place; readers see all of it or the former content. The file stays. */
  write(digest: string, file: string, bytes: number): Promise<void>;
  /** Throws the `BlobError` `missing` without the content. */
  open(digest: string, part?: BlobPart): Promise<Readable>;
  remove(digest: string): Promise<void>;
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Digests become paths and keys, so nothing else gets that far. */
export function hexOf(digest: string): string {
  if (!DIGEST.test(digest)) throw new Error('a digest is sha256: and 64 hexadecimal digits');
  return digest.slice('sha256:'.length);
}
