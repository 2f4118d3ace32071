import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { newId } from '../ids.ts';
import type { Problem } from './problem.ts';

/** The answer to an upgrade that is not granted: a problem, like every other refusal. */
export function refuseUpgrade(socket: Duplex, problem: Problem): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const correlationId = newId();
  const body = JSON.stringify(problem.toJson(correlationId));
  const { retryAfterSeconds } = problem.options;
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? 'Refused'}`,
      'content-type: application/problem+json',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-correlation-id: ${correlationId}`,
      ...(retryAfterSeconds === undefined ? [] : [`retry-after: ${retryAfterSeconds}`]),
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
