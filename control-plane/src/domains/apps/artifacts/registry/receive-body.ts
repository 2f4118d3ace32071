import type { IncomingMessage } from 'node:http';
import { OciError } from './oci-error.ts';

/** A body that delivers nothing for this long has ended. */
const IDLE_MS = 60_000;

/** Bytes of a request as they arrive. A body that stops or breaks off is a refusal, not a failure of the registry. */
export async function* receiveBody(request: IncomingMessage, idleMs = IDLE_MS): AsyncGenerator<Buffer> {
  const idle = setTimeout(() => request.destroy(), idleMs);
  try {
    // A refusal must reach the client, so the end of the reader does not end the connection.
    const chunks: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of chunks) {
      idle.refresh();
      yield chunk;
    }
  } catch (error) {
    if (isCut(error)) throw new OciError(400, 'BLOB_UPLOAD_INVALID', 'The body broke off.');
    throw error;
  } finally {
    clearTimeout(idle);
  }
  if (!request.complete) throw new OciError(400, 'BLOB_UPLOAD_INVALID', 'The body broke off.');
}

/** A small body as a whole. */
export async function receiveAll(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = new OciError(413, 'SIZE_INVALID', `The body has more than ${maxBytes} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of receiveBody(request)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function isCut(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ABORT_ERR';
}
