import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export const GUESTS_GONE_MS = 5_000;

/** Waits until no VM of this simulated machine and no hypervisor is left; whoever ignores the power cut is killed. */
export async function awaitGuestsGone(agentDir: string, deadlineMs: number): Promise<void> {
  const end = Date.now() + deadlineMs;
  for (let alive = await stillRunning(agentDir); alive.length > 0; alive = await stillRunning(agentDir)) {
    if (Date.now() > end) for (const pid of alive) process.kill(pid, 'SIGKILL');
    await pause(50);
  }
}

async function stillRunning(agentDir: string): Promise<number[]> {
  const folder = join(agentDir, 'vms');
  const names = await readdir(folder).catch(() => []);
  const pids = await Promise.all([
    processOf(join(agentDir, 'hypervisor.json'), agentDir),
    ...names.map((name) => processOf(join(folder, name, 'run.json'), name)),
  ]);
  return pids.filter((pid) => pid !== null);
}

/** The process that the file is about, if it still runs. */
async function processOf(file: string, purpose: string): Promise<number | null> {
  try {
    const { pid } = JSON.parse(await readFile(file, 'utf8')) as { pid: number };
    process.kill(pid, 0);
    return isFor(pid, purpose) ? pid : null;
  } catch {
    return null;
  }
}

/** The pid may belong to somebody else by now. */
function isFor(pid: number, purpose: string): boolean {
  if (process.platform !== 'linux') return true;
  const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  // A process on its way out has lost its command line but is not gone yet.
  if (commandLine === '') return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return commandLine.includes(purpose);
}
