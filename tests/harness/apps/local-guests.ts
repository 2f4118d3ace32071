import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { GuestError } from '@gpuaas/control-plane/domains/apps/executors/allocation/guest-error';
import type { Guest, GuestCommand } from '@gpuaas/control-plane/domains/apps/executors/allocation/guest';
import type { Guests } from '@gpuaas/control-plane/domains/apps/runtime/guests';

/**
 * Machines of hosts that are modelled: a folder each, in which the real runner starts real processes. Only the way in is
 * another one, so it is as strict as SSH: no shared state, a deadline, and a limit of bytes.
 */
export function localGuests(folder: string): Guests {
  const enter: Guests['enter'] = async (allocationId, work, signal) => {
    const home = join(folder, allocationId);
    if (existsSync(awayFile(folder, allocationId))) throw new GuestError('node_lost', 'The machine is away.');
    await mkdir(home, { recursive: true });
    const running = new Set<AbortController>();
    const close = (): void => running.forEach((one) => one.abort());
    signal?.addEventListener('abort', close, { once: true });
    const guest: Guest = {
      async run(command) {
        const cut = new AbortController();
        running.add(cut);
        try {
          return await runIn(home, command, cut.signal);
        } finally {
          running.delete(cut);
        }
      },
      listen: () => Promise.reject(new GuestError('executor_error', 'A folder has no ports.')),
      ended: new Promise(() => undefined),
      close,
      now: () => new Date(),
    };
    try {
      return await work(guest);
    } finally {
      signal?.removeEventListener('abort', close);
      close();
    }
  };
  return {
    enter,
    visit: (allocationId, work) => enter(allocationId, work),
    probe: async () => ({ ready: true, detail: 'Not probed.' }),
    close: () => undefined,
  };
}

/** While it exists, the machine does not answer. */
export function awayFile(folder: string, allocationId: string): string {
  return join(folder, `${allocationId}.away`);
}

async function runIn(
  home: string,
  { command, stdin, maxBytes, deadlineMs }: GuestCommand,
  signal: AbortSignal,
): Promise<Buffer> {
  const child = spawn('sh', ['-c', command], {
    cwd: home,
    env: { HOME: home, PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const end = (): void => void child.kill('SIGKILL');
  const late = setTimeout(end, deadlineMs);
  signal.addEventListener('abort', end, { once: true });
  child.stdin.on('error', () => undefined);
  Readable.from(stdin ?? []).pipe(child.stdin);
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) end();
    else chunks.push(chunk);
  });
  await once(child, 'exit');
  clearTimeout(late);
  if (child.signalCode === 'SIGKILL') throw new GuestError('node_lost', 'The command was cut off.');
  if (child.stdout.readable) await once(child.stdout, 'end').catch(() => undefined);
  return Buffer.concat(chunks);
}
