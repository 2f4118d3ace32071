import { once } from 'node:events';
import { duplexPair, type Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { pipeSocket } from '@gpuaas/sdk/pipe-socket';
import { unwrap } from '@gpuaas/sdk/problem';

export async function mintStreamToken(client: GpuaasClient, allocationId: string, port: number) {
  const { token, websocket_path } = await unwrap(
    client.POST('/api/v1/allocations/{allocation_id}/stream-token', {
      params: { path: { allocation_id: allocationId } },
      body: { port },
    }),
  );
  return { token: token!, path: websocket_path };
}

export interface GuestStream {
  /** Writes go to the guest; reads come from it. */
  bytes: Duplex;
  ws: WebSocket;
  closed: Promise<void>;
}

/** A stream to a port, as the command line opens it. Rejects with the status and code of a refusal. */
export async function openStream(
  baseUrl: string,
  token: string,
  options: { path?: string; origin?: string } = {},
): Promise<GuestStream> {
  const url = `${baseUrl.replace(/^http/, 'ws')}${options.path ?? '/api/v1/streams'}`;
  const ws = new WebSocket(url, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
    ...(options.origin ? { origin: options.origin } : {}),
  });
  const [bytes, inner] = duplexPair();
  const closed = new Promise<void>((resolve) => ws.on('close', () => resolve()));
  const refused = new Promise<never>((_resolve, reject) => {
    ws.on('unexpected-response', (_request, answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
      answer.on('end', () =>
        reject(new Error(`${answer.statusCode} ${(JSON.parse(text) as { code: string }).code}`)),
      );
    });
    ws.on('error', reject);
  });
  refused.catch(() => undefined);
  pipeSocket(ws, inner);
  await Promise.race([once(ws, 'open'), refused]);
  return { bytes, ws, closed };
}
