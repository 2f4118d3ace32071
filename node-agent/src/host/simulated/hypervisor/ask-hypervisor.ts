import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pause } from '../../../backoff.ts';
import { findHypervisor, type HypervisorFile } from './hypervisor-file.ts';

export interface HypervisorRequest {
  ask: 'power_on' | 'power_off';
  definition_file: string;
  allocation_id: string;
}

const MAIN = fileURLToPath(new URL('hypervisor-main.ts', import.meta.url));
const START_MS = 10_000;
const ANSWER_MS = 10_000;

/** Whether it was done. */
export async function askHypervisor(
  { port, secret }: HypervisorFile,
  request: HypervisorRequest,
): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  try {
    socket.setEncoding('utf8');
    socket.write(`${JSON.stringify({ ...request, secret })}\n`);
    const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(ANSWER_MS) })) as [string];
    return answer === 'done\n';
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Starts the hypervisor of a host where none runs, once for all who ask at the same time. */
export function hypervisorStarter(dir: string, powerFd: number | null): () => Promise<HypervisorFile | null> {
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
    await pause(10);
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
