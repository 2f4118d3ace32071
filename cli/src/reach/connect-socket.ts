import type { IncomingMessage } from 'node:http';
import { ProblemError } from '@gpuaas/sdk/problem';
import type { WebSocket } from 'ws';

const CONNECT_MS = 30_000;

/**
 * A WebSocket to the platform, paused until its user listens; a refusal is thrown as the response's problem.
 */
export async function connectSocket(
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<WebSocket> {
  // Most commands need none, and start faster without it.
  const { WebSocket } = await import('ws');
  const address = new URL(path, url);
  address.protocol = address.protocol.replace('http', 'ws');
  const socket = new WebSocket(address, { headers, handshakeTimeout: CONNECT_MS, perMessageDeflate: false });
  return await new Promise((resolve, reject) => {
    socket.once('open', () => {
      socket.pause();
      resolve(socket);
    });
    socket.once('error', (error) =>
      reject(new Error(`Cannot reach the platform: ${error.message}`, { cause: error })),
    );
    socket.once('unexpected-response', (_request, answer) => void refusalOf(answer).then(reject));
  });
}

async function refusalOf(answer: IncomingMessage): Promise<Error> {
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  try {
    return new ProblemError(JSON.parse(text) as ConstructorParameters<typeof ProblemError>[0]);
  } catch {
    return new Error(`The platform refused the connection (HTTP ${answer.statusCode}).`);
  }
}
