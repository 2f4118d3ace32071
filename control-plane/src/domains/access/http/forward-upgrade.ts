import { request as send, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GuestAgent } from './guest-agent.ts';

const ANSWER_MS = 60_000;

export interface UpgradeForwarding {
  /** Without keep-alive: the connection becomes the WebSocket. */
  agent: GuestAgent;
  path: string;
  headers: string[];
  /** Headers of the answer that the client gets. */
  toClient(raw: readonly string[]): string[];
  onAnswer(): void;
  /** Answers the client; the socket is still in HTTP. */
  onFailure(error: Error): void;
}

export function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-key'] !== undefined
  );
}

/** Carries a WebSocket as raw bytes: frames, pings and extensions stay between the two ends. Returns how to cut it. */
export function forwardUpgrade(
  socket: Duplex,
  head: Buffer,
  { agent, path, headers, toClient, onAnswer, onFailure }: UpgradeForwarding,
): () => void {
  const sent = send({
    agent,
    path,
    method: 'GET',
    headers: [...headers, 'connection', 'Upgrade', 'upgrade', 'websocket'],
    setHost: false,
    timeout: ANSWER_MS,
  });
  let answered = false;
  sent.on('timeout', () => {
    if (!answered) sent.destroy(new Error('the app did not answer in time'));
  });
  sent.on('error', (error) => {
    if (answered) socket.destroy();
    else if (!socket.destroyed) onFailure(error);
    answered = true;
  });
  sent.once('upgrade', (answer, guest, first) => {
    answered = true;
    guest.on('error', () => guest.destroy());
    if (socket.destroyed) return void guest.destroy();
    onAnswer();
    const lines = ['connection', 'Upgrade', 'upgrade', 'websocket', ...toClient(answer.rawHeaders)];
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headerLines(lines)}\r\n`);
    join(socket, guest, head, first);
  });
  sent.once('response', (answer) => {
    answered = true;
    onAnswer();
    // Ends with the connection: the client sends no further request on it.
    const lines = ['connection', 'close', ...toClient(answer.rawHeaders)];
    socket.write(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${headerLines(lines)}\r\n`);
    answer.on('error', () => socket.destroy());
    answer.pipe(socket);
  });
  const cut = (): void => {
    sent.destroy();
    socket.destroy();
  };
  socket.once('close', () => sent.destroy());
  sent.end();
  return cut;
}

function join(socket: Duplex, guest: Duplex, head: Buffer, first: Buffer): void {
  if (first.length > 0) socket.write(first);
  if (head.length > 0) guest.write(head);
  guest.once('close', () => socket.destroy());
  socket.once('close', () => guest.destroy());
  guest.pipe(socket);
  socket.pipe(guest);
}

function headerLines(raw: readonly string[]): string {
  let text = '';
  for (let index = 0; index < raw.length; index += 2) text += `${raw[index]}: ${raw[index + 1]}\r\n`;
  return text;
}
