import { Agent, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';

/** Connections to one guest port that a visit keeps for its next requests. */
const MAX_SOCKETS = 64;
const MAX_FREE_SOCKETS = 64;

/**
 * node:http over streams into one guest. Always pass such an agent to `http.request`: with `agent: false` node
 * ignores `createConnection` and dials its own loopback.
 */
export class GuestAgent extends Agent {
  readonly #open: () => Promise<Duplex>;

  constructor(open: () => Promise<Duplex>, options: { keepAlive: boolean } = { keepAlive: true }) {
    super({
      ...options,
      maxSockets: options.keepAlive ? MAX_SOCKETS : Infinity,
      maxFreeSockets: MAX_FREE_SOCKETS,
      scheduling: 'lifo',
    });
    this.#open = open;
  }

  override createConnection(
    _options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    void this.#connect(callback);
  }

  async #connect(callback: ((error: Error | null, stream: Duplex) => void) | undefined): Promise<void> {
    let stream: Duplex;
    try {
      stream = await this.#open();
    } catch (error) {
      // With an error there is no stream, which the type does not say.
      if (callback) Reflect.apply(callback, undefined, [error]);
      return;
    }
    callback?.(null, likeSocket(stream));
  }
}

/**
 * The agent calls these on a socket. Its own `reuseSocket` and `keepSocketAlive` stay: they also destroy an idle
 * connection on which the guest speaks unasked.
 */
function likeSocket(stream: Duplex): Duplex {
  for (const method of ['ref', 'unref', 'setNoDelay', 'setKeepAlive'])
    if (!(method in stream)) Object.assign(stream, { [method]: () => stream });
  // A stream of the tunnel can end on one side, which a socket of a guest never does. Idle and half open it would take a
  // request that nobody answers.
  stream.once('end', () => stream.destroy());
  return stream;
}
