export type BlobErrorCode =
  /** No such blob, or the tenant does not hold it. */
  | 'missing'
  /** The stored content does not have its digest. */
  | 'corrupt'
  /** What was sent does not have the digest that was announced. */
  | 'digest_mismatch'
  | 'too_large'
  /** The disk or the bucket has no room. */
  | 'full'
  /** The bucket refuses the platform's credentials or request. */
  | 'refused'
  | 'unavailable';

/** Failure of the store, by a code that callers act on. */
export class BlobError extends Error {
  readonly code: BlobErrorCode;

  constructor(code: BlobErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'BlobError';
    this.code = code;
  }
}

/** Errors of the file system that mean a full disk keep their cause. */
export function asBlobError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  return new BlobError('full', 'the disk of the blob store is full', { cause: error });
}
