import { setTimeout as pause } from 'node:timers/promises';

const END_MS = 5_000;

/** What runs in the sessions of one guest; its hypervisor runs those of others too, which must not be touched. */
export class SessionProcesses {
  readonly #running = new Set<number>();

  started(pid: number): void {
    this.#running.add(pid);
  }

  ended(pid: number): void {
    this.#running.delete(pid);
  }

  /**
   * The whole group: a sandbox that is still starting does not yet die with its parent. A program that was only just
   * started has no group of its own yet, and is ended alone.
   */
  end(pid: number): void {
    for (const target of this.#running.has(pid) ? [-pid, pid] : [-pid]) {
      try {
        process.kill(target, 'SIGKILL');
      } catch {
        // It has ended by itself, or there is no such group yet.
      }
    }
  }

  /** Returns when they are gone, or could not be ended. */
  async endAll(): Promise<void> {
    const deadline = Date.now() + END_MS;
    while (this.#running.size > 0 && Date.now() < deadline) {
      for (const pid of this.#running) this.end(pid);
      await pause(5);
    }
  }
}
