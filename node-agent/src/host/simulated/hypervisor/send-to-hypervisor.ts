import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sleep } from '../../../backoff.ts';
import { GuestUnreachableError } from '../../host.ts';
import { findHypervisor, type HypervisorFile } from './hypervisor-file.ts';

export type HypervisorRequest = { allocation_id: string } & (
  | { ask: 'power_on' | 'power_off'; definition_file: string }
  | { ask: 'dial'; port: number }
);

/** First line of an answer; after `done` to `dial` the connection belongs to the guest's port. */
export const DONE = 'done\n';

const MAIN = fileURLToPath(new URL('hypervisor-main.ts', import.meta.url));
const START_MS = 10_000;
const ANSWER_MS = 10_000;
const DIAL_MS = 30_000;
const MAX_ANSWER = 1_024;

/** Whether it was done. */
export async function sendToHypervisor(
  { port, secret }: HypervisorFile,
  request: HypervisorRequest,
): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  try {
    socket.setEncoding('utf8');
    socket.write(`${JSON.stringify({ ...request, secret })}\n`);
    const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(ANSWER_MS) })) as [string];
    return answer === DONE;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** A connection to a port of a guest; throws `GuestUnreachableError` with the reason. */
export async function dialThroughHypervisor(
  { port, secret }: HypervisorFile,
  request: Extract<HypervisorRequest, { ask: 'dial' }>,
): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true });
  socket.on('error', () => undefined);
  const deadline = setTimeout(() => socket.destroy(), DIAL_MS);
  socket.write(`${JSON.stringify({ ...request, secret })}\n`);
  let answer = Buffer.alloc(0);
  try {
    while (!answer.includes('\n') && answer.length < MAX_ANSWER) {
      const chunk: Buffer | null = socket.read();
      if (chunk) answer = Buffer.concat([answer, chunk]);
      else if (!(await readable(socket))) break;
    }
  } finally {
    clearTimeout(deadline);
  }
  const end = answer.indexOf('\n') + 1;
  const line = answer.toString('utf8', 0, end);
  if (line !== DONE) {
    socket.destroy();
    throw new GuestUnreachableError(line.trim() || 'the hypervisor does not answer');
  }
  if (answer.length > end) socket.unshift(answer.subarray(end));
  return socket;
}

/** Whether there may be something to read. */
async function readable(socket: Socket): Promise<boolean> {
  if (socket.destroyed || socket.readableEnded) return false;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      for (const event of ['readable', 'close']) socket.off(event, done);
      resolve();
    };
    for (const event of ['readable', 'close']) socket.on(event, done);
  });
  return !socket.destroyed && !socket.readableEnded;
}

/** Starts the hypervisor of a host if none runs, once for all concurrent callers. */
export function createHypervisorStarter(
  dir: string,
  powerFd: number | null,
): () => Promise<HypervisorFile | null> {
  let starting: Promise<HypervisorFile | null> | null = null;
  return async () => {
    starting ??= findOrStart(dir, powerFd).finally(() => (starting = null));
    return await starting;
  };
}

async function findOrStart(dir: string, powerFd: number | null): Promise<HypervisorFile | null> {
  let found = await findHypervisor(dir);
  if (found) return found;
  startHypervisor(dir, powerFd);
  for (const end = Date.now() + START_MS; !found && Date.now() < end; found = await findHypervisor(dir))
    await sleep(10);
  return found;
}

/** Detached, like QEMU under libvirt: it outlives the agent, but not the power of the machine. */
function startHypervisor(dir: string, powerFd: number | null): void {
  const log = openSync(join(dir, 'hypervisor.log'), 'a', 0o600);
  try {
    const hypervisor = spawn(process.execPath, ['--max-old-space-size=256', MAIN, dir], {
      detached: true,
      cwd: '/',
      stdio: ['ignore', log, log, powerFd ?? 'ignore'],
      env: {
        PATH: process.env['PATH'] ?? '/usr/bin:/bin',
        ...(powerFd === null ? {} : { GPUAAS_SIM_POWER_FD: '3' }),
      },
    });
    hypervisor.on('error', () => undefined);
    hypervisor.unref();
  } finally {
    closeSync(log);
  }
}
