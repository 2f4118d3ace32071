import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import { newId } from '../ids.ts';
import { Problem } from './problem.ts';
import { endSocket } from './wire/end-socket.ts';
import { securityHeaderLines } from './wire/security-headers.ts';

/** Answers a refused upgrade with a problem, like every other refusal. */
export function refuseUpgrade(socket: Duplex, problem: Problem, publicUrl: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const correlationId = newId();
  const body = JSON.stringify(problem.toJson(correlationId));
  const { retryAfterSeconds } = problem.options;
  endSocket(
    socket,
    [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? 'Refused'}`,
      'content-type: application/problem+json',
      `content-length: ${Buffer.byteLength(body)}`,
      ...securityHeaderLines(publicUrl),
      `x-correlation-id: ${correlationId}`,
      ...(retryAfterSeconds === undefined ? [] : [`retry-after: ${retryAfterSeconds}`]),
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

/** Answers that the WebSocket library writes: accepted upgrades get our headers, malformed ones our refusal. */
export function addAnswerHeaders(sockets: WebSocketServer, publicUrl: string): void {
  const lines = securityHeaderLines(publicUrl);
  sockets.on('headers', (headers) => void headers.push(...lines));
  sockets.on('wsClientError', (error, socket) =>
    refuseUpgrade(socket, new Problem('invalid_request', error.message), publicUrl),
  );
}
