import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { EmbeddedPostgresError } from './errors.ts';
import type { Postmaster } from './postmaster-file.ts';
import { watchServer, type WatchedServer } from './watch-server.ts';

/** Larger than any pid: a server that is gone. */
const GONE = 2 ** 30;
const PORT = 54_321;
/** Six looks of half a second each, on a busy machine. */
const WITHIN = { timeout: 60_000 };

let folder: string;
let watched: WatchedServer | undefined;
let lost: EmbeddedPostgresError[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpuaas-watch-'));
  lost = [];
});
afterEach(async () => {
  await watched?.end();
  await rm(folder, { recursive: true, force: true });
});

function watch(restart: (port: number, signal: AbortSignal) => Promise<Postmaster>): void {
  watched = watchServer({
    first: { pid: GONE, port: PORT },
    folder,
    restart,
    log: () => undefined,
    onLost: (error) => lost.push(error),
  });
}

it('gives up on a server that keeps dying after five restarts on its port', WITHIN, async () => {
  const ports: number[] = [];
  watch(async (port) => {
    ports.push(port);
    return { pid: GONE, port };
  });
  await expect.poll(() => lost, WITHIN).toHaveLength(1);
  expect(ports).toEqual(Array.from({ length: 5 }, () => PORT));
  expect(lost[0]).toMatchObject({ code: 'died', message: expect.stringContaining('6 times in 10 minutes') });
});

it('reports a server that cannot be restarted, with the reason', WITHIN, async () => {
  watch(async () => {
    throw new Error('no space left');
  });
  await expect.poll(() => lost, WITHIN).toHaveLength(1);
  expect(lost[0]).toMatchObject({ code: 'died', message: expect.stringContaining('no space left') });
});

it('cancels a restart when the watch ends, and reports nothing', WITHIN, async () => {
  const cancelled: AbortSignal[] = [];
  const restarting = Promise.withResolvers<void>();
  watch(async (_, signal) => {
    restarting.resolve();
    await new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
    cancelled.push(signal);
    throw new Error('cancelled');
  });
  await restarting.promise;
  await watched!.end();
  expect(cancelled).toHaveLength(1);
  expect(lost).toEqual([]);
});
