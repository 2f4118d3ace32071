import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { GuestUnreachableError } from '../../host.ts';

const DIAL_MS = 5_000;

export async function dialGuest(address: string, port: number): Promise<Socket> {
  const socket = connect({ host: address, port, noDelay: true });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(DIAL_MS) });
    return socket;
  } catch {
    socket.destroy();
    throw new GuestUnreachableError('the guest does not accept the connection');
  }
}
