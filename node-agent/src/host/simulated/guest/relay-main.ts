/**
 * `relay-main.ts <allocation> [user]` lives in a guest's network, and only there. Connects to ports of the guest and listens on them when the hypervisor asks,
 * and passes it the connected sockets: no byte goes through this process.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { RelayAnswer, RelayRequest } from './relay.ts';

const CONNECT_MS = 10_000;
const owner = process.argv[3];
if (owner) {
  process.setgroups?.([]);
  process.setgid?.(Number(owner));
  process.setuid?.(Number(owner));
}

const listeners = new Map<number, Server>();
process.on('disconnect', () => process.exit(0));
process.on('message', (request: RelayRequest) => {
  if (request.ask === 'dial') dial(request.id, request.port, request.hosts);
  else if (request.ask === 'listen') listen(request.id, request.host, request.port);
  else listeners.get(request.id)?.close();
});

function send(answer: RelayAnswer, socket?: Socket): void {
  process.send?.(answer, socket, { keepOpen: false });
}

/** A program may listen on one of the loopback addresses alone. */
function dial(id: number, port: number, [host = '127.0.0.1', ...others]: readonly string[]): void {
  const socket = connect({ host, port, allowHalfOpen: true, autoSelectFamily: false });
  // A server that speaks first must be heard by the hypervisor: nothing may be read here.
  socket.pause();
  socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('ETIMEDOUT')));
  socket.once('connect', () => {
    socket.setTimeout(0);
    send({ id, connected: true }, socket);
  });
  socket.once('error', (error) => {
    if (others.length > 0 && codeOf(error) === 'ECONNREFUSED') return dial(id, port, others);
    send({ id, refused: codeOf(error) });
  });
}

function listen(id: number, host: string, port: number): void {
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    const from = { host: socket.remoteAddress ?? '127.0.0.1', port: socket.remotePort ?? 0 };
    send({ id, accepted: from }, socket);
  });
  server.on('error', (error) => send({ id, refused: codeOf(error) }));
  server.on('close', () => listeners.delete(id));
  server.listen(port, host, () => {
    const address = server.address();
    listeners.set(id, server);
    send({ id, listening: typeof address === 'object' && address ? address.port : port });
  });
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.message;
}
