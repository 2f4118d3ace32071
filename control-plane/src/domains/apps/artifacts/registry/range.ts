import type { BlobPart } from '../../../../platform/blobs/backend.ts';
import { OciError } from './oci-error.ts';

/** The part that a `Range` header asks for; null for all of it, also for forms that a server may ignore. */
export function parseRange(header: string | undefined, bytes: number): BlobPart | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  const [, from = '', to = ''] = match ?? [];
  if (!match || (from === '' && to === '')) return null;
  const part =
    from === ''
      ? { first: Math.max(0, bytes - Number(to)), last: bytes - 1 }
      : { first: Number(from), last: to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1) };
  if (part.first <= part.last && (from !== '' || to !== '0')) return part;
  throw new OciError(416, 'RANGE_INVALID', `The content has ${bytes} bytes.`);
}
