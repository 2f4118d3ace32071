import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export const GUESTS_GONE_MS = 5_000;

/** Waits until no VM process of this simulated machine is left; whoever ignores the power cut is killed. */
export async function awaitGuestsGone(agentDir: string, deadlineMs: number): Promise<void> {
  const end = Date.now() + deadlineMs;
  for (let alive = await livingGuests(agentDir); alive.length > 0; alive = await livingGuests(agentDir)) {
    if (Date.now() > end) for (const pid of alive) process.kill(pid, 'SIGKILL');
    await pause(50);
  }
}

async function livingGuests(agentDir: string): Promise<number[]> {
  const folder = join(agentDir, 'vms');
  const names = await readdir(folder).catch(() => []);
  const pids = await Promise.all(names.map((name) => guestPid(join(folder, name), name)));
  return pids.filter((pid) => pid !== null);
}

async function guestPid(folder: string, allocationId: string): Promise<number | null> {
  try {
    const { pid } = JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')) as { pid: number };
    process.kill(pid, 0);
    return isGuest(pid, allocationId) ? pid : null;
  } catch {
    return null;
  }
}

/** The pid may belong to somebody else by now. */
function isGuest(pid: number, allocationId: string): boolean {
  if (process.platform !== 'linux') return true;
  const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  // A process on its way out has lost its command line but is not gone yet.
  if (commandLine === '') return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return commandLine.includes(allocationId);
}
