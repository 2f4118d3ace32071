import { isLoopbackHttp } from '../../platform/auth/provider.ts';
import type { BlobSettings } from '../../platform/blobs/blobs.ts';
import type { Setting } from '../settings.ts';

/** What is wrong with the settings of the blob store, in words. */
export class BlobSettingsError extends Error {}

interface Sources {
  setting(name: Setting): string | undefined;
  /** The environment alone: a secret as a flag would show in the list of processes. */
  secretKey: string | undefined;
  contentOf(name: Setting, file: string): string;
  defaultFolder: string;
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^(?:[A-Za-z0-9_-]+\/)*$/;

export function readBlobSettings({ setting, secretKey, contentOf, defaultFolder }: Sources): BlobSettings {
  const folder = setting('blobs-dir') ?? defaultFolder;
  const url = setting('blobs-s3-url');
  if (url === undefined) return { folder, s3: null };
  // Content travels in the clear otherwise.
  if (!URL.canParse(url) || !(url.startsWith('https://') || isLoopbackHttp(url)))
    throw new BlobSettingsError('GPUAAS_BLOBS_S3_URL must be an https URL; plain http only on this machine');
  const bucket = setting('blobs-s3-bucket') ?? '';
  if (!BUCKET.test(bucket)) throw new BlobSettingsError('GPUAAS_BLOBS_S3_BUCKET must name a bucket');
  const prefix = setting('blobs-s3-prefix') ?? '';
  if (!PREFIX.test(prefix))
    throw new BlobSettingsError(
      'GPUAAS_BLOBS_S3_PREFIX must be words of letters, digits, - and _, each followed by /',
    );
  const secretFile = setting('blobs-s3-secret-key-file');
  const secretAccessKey =
    secretFile === undefined ? secretKey : contentOf('blobs-s3-secret-key-file', secretFile);
  const accessKeyId = setting('blobs-s3-access-key-id');
  if (!accessKeyId || !secretAccessKey)
    throw new BlobSettingsError(
      'GPUAAS_BLOBS_S3_ACCESS_KEY_ID and GPUAAS_BLOBS_S3_SECRET_KEY or GPUAAS_BLOBS_S3_SECRET_KEY_FILE must be set together with GPUAAS_BLOBS_S3_URL',
    );
  const region = setting('blobs-s3-region') ?? 'us-east-1';
  return { folder, s3: { url: new URL(url), bucket, prefix, region, accessKeyId, secretAccessKey } };
}
