import { Counter, Gauge, type Registry } from 'prom-client';

/** `replica` is a stream that this process carries for another gateway. */
export type StreamKind = 'terminal' | 'port' | 'app' | 'console_log' | 'replica';

export interface MeteredStream {
  toGuest(bytes: number): void;
  fromGuest(bytes: number): void;
  close(): void;
}

/** Tunnels of hosts, and streams into guests, in this process. No label comes from a caller. */
export class StreamMetrics {
  readonly tunnels: Gauge;
  readonly #open: Gauge<'kind'>;
  readonly #asked: Counter<'kind' | 'outcome'>;
  readonly #bytes: Counter<'kind' | 'direction'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.tunnels = new Gauge({
      name: 'gpuaas_tunnels',
      help: 'Hosts whose tunnel this process holds.',
      registers,
    });
    this.#open = new Gauge({
      name: 'gpuaas_streams_open',
      help: 'Streams into guests that are open.',
      labelNames: ['kind'],
      registers,
    });
    this.#asked = new Counter({
      name: 'gpuaas_streams_total',
      help: 'Streams into guests that were asked for, by what became of them.',
      labelNames: ['kind', 'outcome'],
      registers,
    });
    this.#bytes = new Counter({
      name: 'gpuaas_stream_bytes_total',
      help: 'Bytes moved in streams into guests.',
      labelNames: ['kind', 'direction'],
      registers,
    });
  }

  refused(kind: StreamKind): void {
    this.#asked.inc({ kind, outcome: 'refused' });
  }

  opened(kind: StreamKind): MeteredStream {
    this.#asked.inc({ kind, outcome: 'opened' });
    this.#open.inc({ kind });
    let open = true;
    return {
      toGuest: (bytes) => this.#bytes.inc({ kind, direction: 'to_guest' }, bytes),
      fromGuest: (bytes) => this.#bytes.inc({ kind, direction: 'from_guest' }, bytes),
      close: () => {
        if (open) this.#open.dec({ kind });
        open = false;
      },
    };
  }
}
