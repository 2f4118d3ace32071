import { request, type Agent, type RequestOptions } from 'node:https';
import { isRecord } from '@gpuaas/contracts/is-record';

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

export interface JsonRequest {
  url: URL;
  body: unknown;
  agent: Agent;
  timeoutMs: number;
  signal?: AbortSignal;
  correlationId?: string;
}

export interface JsonResponse {
  status: number;
  body: unknown;
  /** The date header: when the server wrote the answer, by its own clock. */
  date: string | undefined;
}

/** The server answered, but not with a success. */
export class ServerRefusedError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(path: string, answer: JsonResponse) {
    const problem = isRecord(answer.body) ? answer.body : {};
    const code = typeof problem['code'] === 'string' ? problem['code'] : 'unexpected_response';
    const text = [problem['detail'], problem['title']].find((value) => typeof value === 'string');
    super(`${path} answered ${answer.status} ${code}${text ? `: ${text}` : ''}`);
    this.status = answer.status;
    this.code = code;
  }
}

export function isSuccess(answer: JsonResponse): boolean {
  return answer.status >= 200 && answer.status < 300;
}

export function postJson(call: JsonRequest): Promise<JsonResponse> {
  const payload = Buffer.from(JSON.stringify(call.body), 'utf8');
  const timeout = AbortSignal.timeout(call.timeoutMs);
  const options: RequestOptions = {
    method: 'POST',
    agent: call.agent,
    signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout,
    headers: {
      accept: 'application/json, application/problem+json',
      'content-type': 'application/json',
      'content-length': payload.length,
      ...(call.correlationId ? { 'x-correlation-id': call.correlationId } : {}),
    },
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(call.url, options, (incoming) => {
      const chunks: Buffer[] = [];
      let size = 0;
      incoming.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_ANSWER_BYTES) incoming.destroy(new Error(`${call.url.pathname} answered too much`));
        else chunks.push(chunk);
      });
      incoming.on('error', reject);
      incoming.on('end', () => {
        const { statusCode = 0, headers } = incoming;
        resolve({ status: statusCode, body: parseBody(Buffer.concat(chunks)), date: headers.date });
      });
    });
    outgoing.on('error', (error) => {
      reject(
        timeout.aborted ? new Error(`${call.url.pathname} did not answer in ${call.timeoutMs} ms`) : error,
      );
    });
    outgoing.end(payload);
  });
}

function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return null;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}
