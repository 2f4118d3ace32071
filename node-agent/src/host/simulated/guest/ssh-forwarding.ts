import { isIPv4, isIPv6 } from 'node:net';
import type { Connection } from 'ssh2';
import { pipeSockets } from './pipe-sockets.ts';
import type { GuestListener, GuestRelay } from './relay.ts';

/** The guest's network; null if the guest is not contained. */
export type GuestNetwork = Pick<GuestRelay, 'dial' | 'listen'> | null;

/** `ssh -L` and `ssh -R`: ports of the guest's network, carried over this connection and closed with it. */
export function serveForwarding(connection: Connection, network: GuestNetwork, hostname: string): void {
  const listeners = new Map<string, GuestListener>();
  let closed = false;
  connection.on('close', () => {
    closed = true;
    for (const listener of listeners.values()) listener.close();
  });

  connection.on('tcpip', (accept, reject, { destIP, destPort }) => {
    const hosts = addressesOf(destIP, hostname);
    if (!network || !hosts) return reject();
    network.dial(destPort, hosts).then(
      (socket) => (closed ? socket.destroy() : pipeSockets(socket, accept())),
      () => reject(),
    );
  });

  connection.on('request', (accept, reject, name, info) => {
    if (name === 'tcpip-forward') {
      listen(info.bindAddr, info.bindPort).then(
        (port) => accept?.(port),
        () => reject?.(),
      );
    } else if (name === 'cancel-tcpip-forward') {
      const key = keyOf(info.bindAddr, info.bindPort);
      const listener = listeners.get(key);
      listeners.delete(key);
      listener?.close();
      if (listener) accept?.();
      else reject?.();
    } else reject?.();
  });

  async function listen(bindAddress: string, bindPort: number): Promise<number> {
    if (!network) throw new Error('the guest is not contained');
    const listener = await network.listen(loopbackOf(bindAddress), bindPort, {
      onConnection(socket, from) {
        connection.forwardOut(bindAddress, listener.port, from.host, from.port, (error, channel) =>
          error ? socket.destroy() : pipeSockets(socket, channel),
        );
      },
      // The client connects again and gets its ports back.
      onLost: () => connection.end(),
    });
    if (closed) {
      listener.close();
      throw new Error('the connection is closed');
    }
    listeners.set(keyOf(bindAddress, listener.port), listener);
    return listener.port;
  }
}

/** Names are not looked up: the guest knows only its own. */
function addressesOf(host: string, hostname: string): string[] | null {
  if (host === 'localhost' || host === hostname) return ['127.0.0.1', '::1'];
  return isIPv4(host) || isIPv6(host) ? [host] : null;
}

/** A client cannot open a port to others; the guest has only its loopback anyway. */
function loopbackOf(bindAddress: string): string {
  return isIPv4(bindAddress) && bindAddress.startsWith('127.') ? bindAddress : '127.0.0.1';
}

function keyOf(bindAddress: string, port: number): string {
  return `${bindAddress} ${port}`;
}
