import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { MaasError } from './maas-error.ts';

/** MAAS describes machines in full, and lists all of them in one response. */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
const ANSWER_TIMEOUT_MS = 30_000;

export interface Message {
  method: 'GET' | 'POST';
  authorization: string;
  /** Sent as a form. */
  form: Readonly<Record<string, string>> | null;
  /** CA of a MAAS with a private certificate. */
  ca: string | null;
}

export interface MaasResponse {
  status: number;
  body: string;
}

/** One request. A timeout ends it, so that nothing hangs on a stuck MAAS. */
export async function sendMaasRequest(url: URL, message: Message): Promise<MaasResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<MaasResponse>();
  const text = message.form === null ? null : new URLSearchParams(message.form).toString();
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = open(url, {
    method: message.method,
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    headers: {
      accept: 'application/json',
      authorization: message.authorization,
      ...(text === null
        ? {}
        : {
            'content-type': 'application/x-www-form-urlencoded',
            'content-length': String(Buffer.byteLength(text)),
          }),
    },
    ...(message.ca === null ? {} : { ca: message.ca }),
  });
  const fail = (error: Error): void =>
    reject(new MaasError('unavailable', `MAAS cannot be asked: ${error.message}`, { cause: error }));
  request.on('error', fail);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > MAX_ANSWER_BYTES) response.destroy(new Error('the answer is too large'));
    });
    response.on('error', fail);
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 500, body: Buffer.concat(chunks).toString('utf8') }),
    );
  });
  request.end(text ?? undefined);
  return await promise;
}
