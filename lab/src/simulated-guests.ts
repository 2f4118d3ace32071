import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export const GUEST_EXIT_TIMEOUT_MS = 5_000;

/**
 * Waits until no VM and no hypervisor of this simulated machine is left; kills processes that ignore the
 * power cut.
 */
export async function waitForGuestsToExit(agentDir: string, deadlineMs: number): Promise<void> {
  const end = Date.now() + deadlineMs;
  for (let alive = await stillRunning(agentDir); alive.length > 0; alive = await stillRunning(agentDir)) {
    if (Date.now() > end) for (const pid of alive) kill(pid);
    await pause(50);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended since.
  }
}

async function stillRunning(agentDir: string): Promise<number[]> {
  const folder = join(agentDir, 'vms');
  const names = await readdir(folder).catch(() => []);
  const pids = await Promise.all([
    processesOf(join(agentDir, 'hypervisor.json'), agentDir),
    ...names.map((name) => processesOf(join(folder, name, 'run.json'), name)),
  ]);
  return pids.flat();
}

/** The processes that the file describes, if they still run. The first process of a guest ends after all others. */
async function processesOf(file: string, purpose: string): Promise<number[]> {
  try {
    const { pid, init_pid }: { pid: number; init_pid?: number | null } = JSON.parse(
      await readFile(file, 'utf8'),
    );
    return [pid, init_pid ?? pid].filter((one) => isFor(one, purpose));
  } catch {
    return [];
  }
}

/** The pid may have been reused. */
function isFor(pid: number, purpose: string): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || runsFor(pid, purpose);
  } catch {
    return false;
  }
}

function runsFor(pid: number, purpose: string): boolean {
  const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  // An exiting process has lost its command line but is not gone yet.
  if (commandLine === '') return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return commandLine.includes(purpose);
}
