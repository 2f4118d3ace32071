import { setTimeout as pause } from 'node:timers/promises';

const END_MS = 5_000;

/**
 * Processes that wait outside of one guest for the programs of its sessions; the hypervisor also runs those of others,
 * which must not be touched.
 */
export class SessionProcesses {
  readonly #running = new Set<number>();

  started(pid: number): void {
    this.#running.add(pid);
  }

  ended(pid: number): void {
    this.#running.delete(pid);
  }

  all(): readonly number[] {
    return [...this.#running];
  }

  /**
   * Returns when they are gone, or could not be ended. The kernel ends a guest only when those that tenants have stopped
   * are gone.
   */
  async endAll(): Promise<void> {
    const deadline = Date.now() + END_MS;
    while (this.#running.size > 0 && Date.now() < deadline) {
      for (const pid of this.#running) end(pid);
      await pause(5);
    }
  }
}

/** Ends the whole group. A program that was just started has no group yet, and is ended alone. */
function end(pid: number): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // It has already ended, or the group does not exist yet.
    }
  }
}
