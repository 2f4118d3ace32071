import type { IncomingMessage } from 'node:http';
import { isRecord } from '@gpuaas/contracts/is-record';
import { AppRefusal } from './app-refusal.ts';

/** The body as a JSON object; an empty body is an empty object. Reads no more than `maxBytes`. */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  const body = parse(Buffer.concat(chunks).toString('utf8') || '{}');
  if (!isRecord(body)) throw new AppRefusal(400, 'invalid_json', 'The body must be a JSON object.');
  return body;
}

function parse(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    return body;
  } catch {
    throw new AppRefusal(400, 'invalid_json', 'The body is not valid JSON.');
  }
}

function tooLarge(maxBytes: number): AppRefusal {
  return new AppRefusal(413, 'body_too_large', `The body is larger than ${maxBytes} bytes.`);
}
