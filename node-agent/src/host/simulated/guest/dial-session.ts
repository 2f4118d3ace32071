import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { GuestUnreachableError } from '../../host.ts';

const RELAY = fileURLToPath(new URL('relay-main.ts', import.meta.url));
const DIAL_MS = 10_000;
const LISTENING = '0A';

/**
 * A connection to what a shell of the guest listens with. Each shell is contained in a network of its own, which only root
 * may enter: the namespace that owns it is not the one that a plain user's shell runs in.
 */
export async function dialSession(hypervisorPid: number, guestFolder: string, port: number): Promise<Duplex> {
  const listener = findListener(hypervisorPid, guestFolder, port);
  if (listener === null) throw new GuestUnreachableError(`nothing in the guest listens on port ${port}`);
  if (process.getuid?.() !== 0)
    throw new GuestUnreachableError(
      'ports of a simulated guest can be reached only if its agent runs as root',
    );
  const relay = spawn(
    'nsenter',
    ['--target', String(listener), '--net', '--', process.execPath, RELAY, String(port)],
    { stdio: ['pipe', 'pipe', 'pipe'], env: {} },
  );
  const stream = Duplex.from({ readable: relay.stdout, writable: relay.stdin });
  stream.on('error', () => undefined);
  stream.once('close', () => relay.kill('SIGKILL'));
  const deadline = AbortSignal.timeout(DIAL_MS);
  try {
    // The relay says a word when it is connected, and ends without one otherwise.
    const connected = once(relay.stderr, 'data', { signal: deadline });
    const ended = once(relay, 'close', { signal: deadline }).then(() => Promise.reject(new Error('ended')));
    await Promise.race([connected, ended]);
    return stream;
  } catch {
    stream.destroy();
    throw new GuestUnreachableError(`port ${port} of the guest does not accept the connection`);
  }
}

function findListener(hypervisorPid: number, guestFolder: string, port: number): number | null {
  const outside = networkOf(process.pid);
  return (
    shells(hypervisorPid, guestFolder).find((pid) => {
      const network = networkOf(pid);
      return network !== null && network !== outside && listens(pid, port);
    }) ?? null
  );
}

function networkOf(pid: number): string | null {
  return attempt(() => readlinkSync(`/proc/${pid}/ns/net`));
}

function listens(pid: number, port: number): boolean {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return ['tcp', 'tcp6'].some((table) =>
    (attempt(() => readFileSync(`/proc/${pid}/net/${table}`, 'utf8')) ?? '').split('\n').some((line) => {
      const [, address, , state] = line.trim().split(/\s+/);
      return state === LISTENING && address?.endsWith(local) === true;
    }),
  );
}

/** Of this guest alone: the container of a shell names the folder of its guest, and starts all that runs in it. */
function shells(hypervisorPid: number, guestFolder: string): number[] {
  const containers = children(hypervisorPid).filter((pid) =>
    attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))?.includes(`${guestFolder}/`),
  );
  return containers.flatMap((pid) => [pid, ...descendants(pid)]);
}

function descendants(pid: number): number[] {
  return children(pid).flatMap((child) => [child, ...descendants(child)]);
}

function children(pid: number): number[] {
  const threads = attempt(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads
    .flatMap((thread) =>
      (attempt(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')) ?? '').split(' '),
    )
    .filter((text) => text.trim() !== '')
    .map(Number);
}

/** Processes come and go while one looks. */
function attempt<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}
