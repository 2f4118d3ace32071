import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { sleep } from '../../../backoff.ts';
import { isErrno } from '../../../durable-file.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import type { HostOperation } from '../../host.ts';
import { rootCause, type ImageBlob } from './image-source.ts';

/** Consecutive attempts without notable progress. */
const ATTEMPTS = 5;
const WORTH_MENTIONING = 64 * 1024;
const STALLED_MS = 60_000;

/** A failure after which the bytes so far are kept: the next attempt requests the rest. */
class BrokenOff extends Error {
  /** Bytes from earlier attempts. */
  bytes = 0;
}

export interface DownloadOptions {
  maxBytes: number;
  /** Called with the size of the whole file before its bytes are written. */
  makeRoom(bytes: number): Promise<void>;
  step: HostOperation;
}

/** Downloads a blob into a file and hashes it; resumes an earlier attempt. */
export async function download(blob: ImageBlob, file: string, options: DownloadOptions): Promise<void> {
  const { step } = options;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await fetchRest(blob, file, options);
    } catch (error) {
      if (!(error instanceof BrokenOff)) throw error;
      if (error.bytes >= WORTH_MENTIONING) attempt = 0;
      if (attempt >= ATTEMPTS) {
        throw new TaskError('image_unavailable', `${blob.url} broke off ${attempt} times: ${error.message}`);
      }
      await sleep(500 * attempt, step.signal);
      step.signal.throwIfAborted();
    }
  }
}

async function fetchRest(blob: ImageBlob, file: string, options: DownloadOptions): Promise<void> {
  const { maxBytes, makeRoom, step } = options;
  let { hash, bytes } = await hashFile(file);
  let came = 0;
  const stalled = new AbortController();
  const signal = AbortSignal.any([step.signal, stalled.signal]);
  let watchdog = setTimeout(() => stalled.abort(), STALLED_MS);
  try {
    const range = bytes > 0 ? { range: `bytes=${bytes}-` } : {};
    const answer = await fetch(blob.url, { headers: { ...blob.headers, ...range }, signal });
    if (answer.status === 416 && bytes > 0) return await judge(blob, file, hash);
    if (!answer.ok || !answer.body) {
      const detail = `${blob.url} answers ${answer.status}`;
      throw answer.status >= 500 ? new BrokenOff(detail) : new TaskError('image_unavailable', detail);
    }
    // A server without ranges sends everything again; a server that returns another range is refused.
    if (answer.status !== 206) {
      hash = createHash('sha256');
      bytes = 0;
    }
    refuseOtherPlace(answer, bytes);
    const total = bytes + Number(answer.headers.get('content-length') ?? 0);
    refuseOversize(blob, total, maxBytes);
    await makeRoom(total);
    const output = await open(file, bytes > 0 ? 'a' : 'w', 0o600);
    try {
      for await (const chunk of answer.body) {
        clearTimeout(watchdog);
        watchdog = setTimeout(() => stalled.abort(), STALLED_MS);
        await output.write(chunk);
        hash.update(chunk);
        bytes += chunk.length;
        came += chunk.length;
        refuseOversize(blob, bytes, maxBytes);
        step.percent(total > 0 ? (bytes / total) * 100 : 0);
      }
      await output.sync();
    } finally {
      await output.close();
    }
    if (bytes < total) throw new BrokenOff(`ended after ${bytes} of ${total} bytes`);
  } catch (error) {
    step.signal.throwIfAborted();
    if (error instanceof TaskError) throw error;
    if (isErrno(error, 'ENOSPC')) throw new TaskError('host_disk_full', `no room for the image in ${file}`);
    const broken =
      error instanceof BrokenOff
        ? error
        : new BrokenOff(stalled.signal.aborted ? 'no byte for a minute' : rootCause(error));
    broken.bytes = came;
    throw broken;
  } finally {
    clearTimeout(watchdog);
  }
  // The size could not be checked earlier if the server did not send it.
  await makeRoom(bytes);
  await judge(blob, file, hash);
}

async function judge(blob: ImageBlob, file: string, hash: Hash): Promise<void> {
  const found = hash.digest('hex');
  if (found === blob.sha256) return;
  await rm(file, { force: true });
  const detail = `${blob.url} has the digest sha256:${found}, not sha256:${blob.sha256}`;
  throw new TaskError('image_digest_mismatch', detail);
}

/** Bytes of another range would produce a file that the server never sent. */
function refuseOtherPlace(answer: Response, bytes: number): void {
  const start = /^bytes (\d+)-/.exec(answer.headers.get('content-range') ?? '')?.[1];
  if (answer.status === 206 && start !== undefined && Number(start) !== bytes)
    throw new BrokenOff(`it answers with bytes from ${start}, ${bytes} were asked for`);
}

function refuseOversize({ url }: ImageBlob, bytes: number, maxBytes: number): void {
  if (bytes <= maxBytes) return;
  throw new TaskError('image_too_large', `${url} is larger than the whole cache of ${maxBytes} bytes`);
}

/** The hash of the existing bytes, ready for more. */
export async function hashFile(file: string): Promise<{ hash: Hash; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(file)) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
  return { hash, bytes };
}
