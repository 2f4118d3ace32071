import { BlobError } from '../../../platform/blobs/blob-error.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';

/** Small content of the store, verified against its digest. */
export async function readContent(
  { blobs }: Pick<Services, 'blobs'>,
  digest: string,
  maxBytes: number,
): Promise<Buffer> {
  return await translated(digest, async () => {
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of await blobs.open(digest)) {
      bytes += part.length;
      if (bytes > maxBytes)
        throw new Problem('artifact_too_large', `${digest} has more than ${maxBytes} bytes.`);
      parts.push(part);
    }
    return Buffer.concat(parts);
  });
}

/** Reads all of a payload, so that its digest is compared. */
export async function verifyContent({ blobs }: Pick<Services, 'blobs'>, digest: string): Promise<void> {
  await translated(digest, async () => {
    const content = await blobs.open(digest);
    content.resume();
    await new Promise<void>((resolve, reject) => content.once('end', resolve).once('error', reject));
  });
}

async function translated<T>(digest: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof BlobError)) throw error;
    if (error.code === 'corrupt')
      throw new Problem('artifact_digest_mismatch', `The stored content of ${digest} has another digest.`);
    if (error.code === 'missing') throw new Problem('artifact_unknown', `${digest} is not stored.`);
    throw new Problem('service_unavailable', 'The content store gives no content now.', {
      cause: error,
      retryAfterSeconds: 30,
    });
  }
}
