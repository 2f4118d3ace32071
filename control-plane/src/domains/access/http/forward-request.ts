import { request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { GuestAgent } from './guest-agent.ts';

/** A guest that sends no answer for this long does not answer. */
const ANSWER_MS = 600_000;

export interface Forwarding {
  agent: GuestAgent;
  /** Request target at the guest. */
  path: string;
  headers: string[];
  /** Headers of the answer that the client gets. */
  toClient(raw: readonly string[]): string[];
  /** The guest has answered. */
  onAnswer(): void;
  /** The guest did not answer; nothing was sent to the client yet. */
  onFailure(error: Error): void;
}

/**
 * Carries one request to the guest and its answer back, byte by byte as they come. Returns how to cut it. `pipe` and
 * not `pipeline`: the latter costs half as much again for a small request.
 */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { agent, path, headers, toClient, onAnswer, onFailure }: Forwarding,
): () => void {
  const chunked = request.headers['transfer-encoding'] !== undefined;
  const sent = send({
    agent,
    path,
    method: request.method ?? 'GET',
    headers: chunked ? [...headers, 'transfer-encoding', 'chunked'] : headers,
    setHost: false,
    timeout: ANSWER_MS,
  });
  const fail = (error: Error): void => {
    sent.destroy();
    if (response.headersSent) response.destroy();
    else if (!response.destroyed) onFailure(error);
  };
  sent.on('timeout', () => {
    if (!response.headersSent) fail(new Error('the app did not answer in time'));
  });
  sent.on('information', ({ statusCode, headers: early }) => {
    if (statusCode === 103 && early['link'] && !response.headersSent)
      response.writeEarlyHints({ link: early['link'] });
  });
  // Nobody asked the guest to upgrade.
  sent.on('upgrade', (_answer, socket) => {
    socket.destroy();
    fail(new Error('the app switched protocols unasked'));
  });
  sent.on('error', fail);
  sent.once('response', (answer) => {
    try {
      response.writeHead(answer.statusCode ?? 0, answer.statusMessage, toClient(answer.rawHeaders));
    } catch (error) {
      answer.destroy();
      return fail(error instanceof Error ? error : new Error(String(error)));
    }
    response.flushHeaders();
    onAnswer();
    carry(answer, response);
  });
  response.once('close', () => {
    // The client left: the guest's work for it ends, too.
    if (!response.writableFinished) sent.destroy();
  });
  if (chunked || (request.headers['content-length'] ?? '0') !== '0') {
    request.on('error', () => sent.destroy());
    // Before `pipe`, so that trailers are there when it ends the request.
    request.once('end', () => {
      if (request.rawTrailers.length > 0) sent.addTrailers(pairs(request.rawTrailers));
    });
    request.pipe(sent);
  } else sent.end();
  return () => {
    sent.destroy();
    response.destroy();
  };
}

function carry(answer: IncomingMessage, response: ServerResponse): void {
  // A cut answer must look cut to the client, not short.
  answer.on('error', () => response.destroy());
  answer.once('end', () => {
    if (answer.rawTrailers.length > 0) response.addTrailers(pairs(answer.rawTrailers));
  });
  answer.pipe(response);
}

function pairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [
    raw[2 * index] ?? '',
    raw[2 * index + 1] ?? '',
  ]);
}
