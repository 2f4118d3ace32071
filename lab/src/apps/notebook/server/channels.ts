import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { decodeDefault, encodeDefault } from '../wire/default-protocol.ts';
import { decodeV1, encodeV1, V1_PROTOCOL } from '../wire/v1-protocol.ts';
import type { Kernel } from './kernel.ts';

const MAX_MESSAGE_BYTES = 16_777_216;
const PING_MS = 30_000;

const sockets = new WebSocketServer({
  noServer: true,
  maxPayload: MAX_MESSAGE_BYTES,
  handleProtocols: (offered) => (offered.has(V1_PROTOCOL) ? V1_PROTOCOL : false),
});

/** `/api/kernels/{id}/channels`: all channels of a kernel over one WebSocket. */
export function openChannels(
  kernel: Kernel,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  client: string,
): void {
  sockets.handleUpgrade(request, socket, head, (opened) => connect(kernel, opened, client));
}

export function closeChannels(): void {
  for (const socket of sockets.clients) socket.close(1001, 'the server stops');
}

function connect(kernel: Kernel, socket: WebSocket, client: string): void {
  const v1 = socket.protocol === V1_PROTOCOL;
  kernel.audience.add({ socket, encode: v1 ? encodeV1 : encodeDefault, client });
  socket.on('error', () => socket.terminate());
  socket.on('message', (data, binary) => {
    try {
      kernel.receive(v1 ? decodeV1(toBuffer(data)) : decodeDefault(toBuffer(data), binary), client);
    } catch (error) {
      // A client that sends garbage does not harm the others.
      socket.close(1003, error instanceof Error ? error.message.slice(0, 120) : 'not a message');
    }
  });
  let answered = true;
  socket.on('pong', () => (answered = true));
  const pinging = setInterval(() => {
    if (!answered) return socket.terminate();
    answered = false;
    socket.ping();
  }, PING_MS);
  socket.on('close', () => clearInterval(pinging));
}

function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
