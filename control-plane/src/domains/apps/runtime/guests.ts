import type { Guest } from '../executors/allocation/guest.ts';
import { GuestError } from '../executors/allocation/guest-error.ts';
import { openGuest, type GuestAccess } from '../executors/allocation/open-guest.ts';
import { probePort, type PortProbe, type PortProbeResult } from '../executors/allocation/probe-port.ts';

interface Connection {
  guest: Promise<Guest>;
  openedAt: number;
  usedAt: number;
}

/** Observations come more often; a machine without members costs no connection. */
const IDLE_MS = 45_000;
/** A key that was taken out of the machine is noticed at the next log-in. */
const MAX_AGE_MS = 300_000;
const SWEEP_MS = 5_000;

/** The ways into machines. Every method throws `GuestError`. */
export interface Guests {
  /** A connection for one piece of work, which `signal` may cut. */
  enter<T>(allocationId: string, work: (guest: Guest) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** The shared connection. One that has broken since is replaced once, so `work` may run twice. */
  visit<T>(allocationId: string, work: (guest: Guest) => Promise<T>): Promise<T>;
  probe(allocationId: string, port: number, probe: PortProbe): Promise<PortProbeResult>;
  close(): void;
}

/** The machines that this process has entered. Observations share a connection; starts and stops have their own. */
export class GuestConnections implements Guests {
  readonly #access: GuestAccess;
  readonly #maxAgeMs: number;
  readonly #connections = new Map<string, Connection>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(access: GuestAccess, { maxAgeMs = MAX_AGE_MS }: { maxAgeMs?: number } = {}) {
    this.#access = access;
    this.#maxAgeMs = maxAgeMs;
    this.#sweeper = setInterval(() => this.#closeOld(), SWEEP_MS);
    this.#sweeper.unref();
  }

  async enter<T>(allocationId: string, work: (guest: Guest) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const guest = await openGuest(this.#access, allocationId);
    const cut = (): void => guest.close();
    signal?.addEventListener('abort', cut, { once: true });
    try {
      if (signal?.aborted) throw new GuestError('executor_error', 'The work was called off.');
      return await work(guest);
    } finally {
      signal?.removeEventListener('abort', cut);
      guest.close();
    }
  }

  async visit<T>(allocationId: string, work: (guest: Guest) => Promise<T>): Promise<T> {
    const known = this.#connections.get(allocationId);
    try {
      return await this.#visitOnce(allocationId, work);
    } catch (error) {
      if (!known || !(error instanceof GuestError)) throw error;
      return await this.#visitOnce(allocationId, work);
    }
  }

  async probe(allocationId: string, port: number, probe: PortProbe): Promise<PortProbeResult> {
    return await probePort(this.#access, allocationId, port, probe);
  }

  close(): void {
    clearInterval(this.#sweeper);
    for (const allocationId of [...this.#connections.keys()]) this.#drop(allocationId);
  }

  async #visitOnce<T>(allocationId: string, work: (guest: Guest) => Promise<T>): Promise<T> {
    const connection = this.#connections.get(allocationId) ?? this.#open(allocationId);
    try {
      const result = await work(await connection.guest);
      connection.usedAt = performance.now();
      return result;
    } catch (error) {
      if (this.#connections.get(allocationId) === connection) this.#drop(allocationId);
      throw error;
    }
  }

  #open(allocationId: string): Connection {
    const now = performance.now();
    const guest = openGuest(this.#access, allocationId);
    guest.catch(() => undefined);
    const connection = { guest, openedAt: now, usedAt: now };
    this.#connections.set(allocationId, connection);
    return connection;
  }

  #drop(allocationId: string): void {
    const connection = this.#connections.get(allocationId);
    this.#connections.delete(allocationId);
    void connection?.guest.then(
      (guest) => guest.close(),
      () => undefined,
    );
  }

  #closeOld(): void {
    const now = performance.now();
    for (const [allocationId, { openedAt, usedAt }] of this.#connections)
      if (now - usedAt > IDLE_MS || now - openedAt > this.#maxAgeMs) this.#drop(allocationId);
  }
}
