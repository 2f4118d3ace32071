import { openAsBlob } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { hexOf, type BlobBackend, type BlobPart } from './backend.ts';
import { BlobError } from './blob-error.ts';
import { sha256, signV4, type SigningKey } from './sign-v4.ts';

export interface S3Settings extends SigningKey {
  /** Address of the service; buckets are the first part of the path. */
  url: URL;
  bucket: string;
  /** Begins every key; empty, or ends with a slash. */
  prefix: string;
}

/** The most that S3 takes in one request; nothing larger is stored, so no upload has parts. */
const MAX_OBJECT_BYTES = 5 * 1024 ** 3;
const ANSWER_TIMEOUT_MS = 30_000;
const UPLOAD_TIMEOUT_MS = 3_600_000;
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 200;
const EMPTY_SHA256 = sha256('');

/** The file of an upload, or the part that is read. */
interface Content {
  file?: string;
  part?: BlobPart | undefined;
}

/** Content in a bucket of an S3-compatible service, by path-style addresses and signed requests. */
export class S3Backend implements BlobBackend {
  readonly name = 's3';
  readonly maxBytes = MAX_OBJECT_BYTES;
  readonly #settings: S3Settings;
  readonly #clock: Clock;

  constructor(settings: S3Settings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  async size(digest: string): Promise<number | null> {
    const answer = await this.#send('HEAD', digest);
    if (answer.status === 404) return null;
    return Number(answer.headers.get('content-length'));
  }

  async write(digest: string, file: string): Promise<void> {
    const answer = await this.#send('PUT', digest, { file });
    await answer.body?.cancel();
  }

  async open(digest: string, part?: BlobPart): Promise<Readable> {
    const answer = await this.#send('GET', digest, { part });
    if (answer.status === 404 || !answer.body)
      throw new BlobError('missing', `${digest} is not in the bucket`);
    return Readable.from(buffersOf(answer.body), { objectMode: false });
  }

  async remove(digest: string): Promise<void> {
    const answer = await this.#send('DELETE', digest);
    await answer.body?.cancel();
  }

  /** Answers of success, and 404 for a missing key. Transient failures are retried a few times. */
  async #send(method: string, digest: string, content: Content = {}): Promise<Response> {
    let pause = FIRST_PAUSE_MS;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#sendOnce(method, digest, content);
      if (outcome instanceof Response) return outcome;
      if (outcome.code === 'refused' || attempt === ATTEMPTS) throw outcome;
      await sleep(pause);
      pause *= 2;
    }
  }

  async #sendOnce(method: string, digest: string, { file, part }: Content): Promise<Response | BlobError> {
    const hex = hexOf(digest);
    const { url: service, bucket, prefix } = this.#settings;
    const url = new URL(`${service.pathname.replace(/\/$/, '')}/${bucket}/${prefix}sha256/${hex}`, service);
    const contentSha256 = file === undefined ? EMPTY_SHA256 : hex;
    const headers = signV4({ method, url, contentSha256 }, this.#settings, this.#clock.now());
    const waiting = new AbortController();
    // Only until the answer begins: a download may take as long as its reader.
    const timer = setTimeout(
      () => waiting.abort(new Error('no answer in time')),
      file === undefined ? ANSWER_TIMEOUT_MS : UPLOAD_TIMEOUT_MS,
    );
    try {
      const answer = await fetch(url, {
        method,
        headers: part ? { ...headers, range: `bytes=${part.first}-${part.last}` } : headers,
        redirect: 'manual',
        signal: waiting.signal,
        ...(file === undefined ? {} : { body: await openAsBlob(file) }),
      });
      if (answer.ok) return answer;
      const code = await errorCode(answer);
      if (answer.status === 404 && code !== 'NoSuchBucket') return answer;
      return failure(method, answer.status, code);
    } catch (error) {
      return new BlobError('unavailable', `S3 did not answer ${method}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }
}

async function* buffersOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of body) yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

const MAX_ERROR_BYTES = 8192;

/** The code in the XML of an error. */
async function errorCode(answer: Response): Promise<string> {
  let text = '';
  if (answer.body)
    for await (const chunk of buffersOf(answer.body)) {
      text += chunk.toString();
      if (text.length > MAX_ERROR_BYTES) break;
    }
  return /<Code>(\w{1,64})<\/Code>/.exec(text)?.[1] ?? '';
}

function failure(method: string, status: number, code: string): BlobError {
  const what = `S3 answered ${method} with ${status}${code && ` ${code}`}`;
  const passes = status >= 500 || status === 429 || status === 408;
  return new BlobError(passes ? 'unavailable' : 'refused', what);
}
