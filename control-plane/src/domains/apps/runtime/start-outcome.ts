import type { AppReason } from '@gpuaas/contracts/generated/reasons.ts';
import { BlobError } from '../../../platform/blobs/blob-error.ts';
import { MissingSecretsError } from '../../secrets/open-secrets.ts';
import { GuestError } from '../executors/allocation/guest-error.ts';

/** What became of a part of a start. */
export type StartOutcome =
  | { kind: 'ready'; detail: string | null }
  | { kind: 'failed'; reason: AppReason; message: string; exitCode?: number | null }
  /** The end was decided meanwhile; its teardown does the rest. */
  | { kind: 'ending' };

/** A failure that stays, as an outcome; null if another attempt may help. Errors of our own are thrown. */
export function outcomeOf(error: unknown): StartOutcome | null {
  if (error instanceof MissingSecretsError)
    return { kind: 'failed', reason: 'rejected', message: `Rejected: ${error.message}` };
  if (error instanceof BlobError) {
    const reason = error.code === 'corrupt' ? 'digest_mismatch' : 'registry_unavailable';
    return { kind: 'failed', reason, message: `The payload could not be read: ${error.message}` };
  }
  if (!(error instanceof GuestError)) throw error;
  if (error.reason === 'node_lost') return null;
  return { kind: 'failed', reason: error.reason, message: error.message };
}
