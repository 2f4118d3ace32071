import type { Duplex } from 'node:stream';
import type { TunnelKind } from '@gpuaas/contracts/tunnel';

/** The open streams to guests of this host, so that a release can cut them immediately. */
export class GuestStreams {
  readonly #open = new Map<string, Map<Duplex, TunnelKind>>();
  readonly #revoked = new Set<string>();

  isRevoked(allocationId: string): boolean {
    return this.#revoked.has(allocationId);
  }

  /** Those of one tunnel. Apps do not use up what terminals may have. */
  count(allocationId: string, kind: TunnelKind): number {
    let count = 0;
    for (const one of this.#open.get(allocationId)?.values() ?? []) if (one === kind) count += 1;
    return count;
  }

  add(allocationId: string, kind: TunnelKind, stream: Duplex): void {
    const streams = this.#open.get(allocationId) ?? new Map<Duplex, TunnelKind>();
    this.#open.set(allocationId, streams.set(stream, kind));
    stream.once('close', () => {
      streams.delete(stream);
      if (streams.size === 0 && this.#open.get(allocationId) === streams) this.#open.delete(allocationId);
    });
  }

  /** Cuts open streams and rejects new ones. */
  revoke(allocationId: string): void {
    this.#revoked.add(allocationId);
    for (const stream of this.#open.get(allocationId)?.keys() ?? []) stream.destroy();
  }
}
