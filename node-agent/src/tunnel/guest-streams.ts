import type { Duplex } from 'node:stream';

/** The open streams to guests of this host, so that a release can cut them immediately. */
export class GuestStreams {
  readonly #open = new Map<string, Set<Duplex>>();
  readonly #revoked = new Set<string>();

  isRevoked(allocationId: string): boolean {
    return this.#revoked.has(allocationId);
  }

  count(allocationId: string): number {
    return this.#open.get(allocationId)?.size ?? 0;
  }

  add(allocationId: string, stream: Duplex): void {
    const streams = this.#open.get(allocationId) ?? new Set();
    this.#open.set(allocationId, streams.add(stream));
    stream.once('close', () => {
      streams.delete(stream);
      if (streams.size === 0 && this.#open.get(allocationId) === streams) this.#open.delete(allocationId);
    });
  }

  /** Cuts open streams and rejects new ones. */
  revoke(allocationId: string): void {
    this.#revoked.add(allocationId);
    for (const stream of this.#open.get(allocationId) ?? []) stream.destroy();
  }
}
