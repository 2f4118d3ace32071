import { BlobError } from '../../../../platform/blobs/blob-error.ts';
import type { Problem } from '../../../../platform/http/problem.ts';

/** Codes of the distribution specification, and those that registries use besides. */
export type OciCode =
  | 'BLOB_UNKNOWN'
  | 'BLOB_UPLOAD_INVALID'
  | 'BLOB_UPLOAD_UNKNOWN'
  | 'DENIED'
  | 'DIGEST_INVALID'
  | 'MANIFEST_BLOB_UNKNOWN'
  | 'MANIFEST_INVALID'
  | 'MANIFEST_UNKNOWN'
  | 'NAME_INVALID'
  | 'NAME_UNKNOWN'
  | 'RANGE_INVALID'
  | 'SIZE_INVALID'
  | 'TAG_INVALID'
  | 'TOOMANYREQUESTS'
  | 'UNAUTHORIZED'
  | 'UNAVAILABLE'
  | 'UNKNOWN'
  | 'UNSUPPORTED';

/** A refusal in the words of the distribution specification. */
export class OciError extends Error {
  readonly status: number;
  readonly code: OciCode;
  readonly detail: unknown;

  constructor(status: number, code: OciCode, message: string, detail?: unknown) {
    super(message);
    this.name = 'OciError';
    this.status = status;
    this.code = code;
    this.detail = detail;
  }

  toJson(): object {
    const { code, message, detail } = this;
    return { errors: [{ code, message, ...(detail === undefined ? {} : { detail }) }] };
  }
}

const BY_STATUS: Readonly<Record<number, OciCode>> = {
  401: 'UNAUTHORIZED',
  403: 'DENIED',
  404: 'NAME_UNKNOWN',
  405: 'UNSUPPORTED',
  429: 'TOOMANYREQUESTS',
  503: 'UNAVAILABLE',
};

/** Refusals of the platform as clients of a registry understand them. */
export function ociErrorOf(problem: Problem): OciError {
  const { code, status, message } = problem;
  // Clients show the text of 403; most of them repeat a request after 409.
  if (code === 'storage_quota_exceeded' || code === 'limit_reached')
    return new OciError(403, 'DENIED', message);
  return new OciError(status, BY_STATUS[status] ?? 'UNKNOWN', message);
}

/** Failures of the blob store; null for others. */
export function ociErrorOfStore(error: unknown): OciError | null {
  if (!(error instanceof BlobError)) return null;
  switch (error.code) {
    case 'digest_mismatch':
      return new OciError(400, 'DIGEST_INVALID', `The content does not have this digest: ${error.message}.`);
    case 'too_large':
      return new OciError(413, 'SIZE_INVALID', `The content is too large: ${error.message}.`);
    case 'missing':
      return new OciError(404, 'BLOB_UNKNOWN', 'The content is not stored.');
    case 'corrupt':
      return new OciError(503, 'UNAVAILABLE', 'The stored content is damaged. Push it again.');
    case 'full':
    case 'refused':
    case 'unavailable':
      return new OciError(503, 'UNAVAILABLE', 'The storage takes no content right now.');
  }
}
