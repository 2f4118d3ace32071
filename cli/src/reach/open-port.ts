import type { Duplex } from 'node:stream';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { pipeSocket } from '@gpuaas/sdk/pipe-socket';
import { unwrap } from '@gpuaas/sdk/problem';
import type { WebSocket } from 'ws';
import { connectSocket } from './connect-socket.ts';

export interface PortTarget {
  client: GpuaasClient;
  /** Address of the platform. */
  url: string;
  allocationId: string;
  port: number;
}

/** Renew the token this long before it expires. */
const SPARE_MS = 60_000;

/** Opens connections to one port of a machine, with one token for many. */
export function createPortOpener(target: PortTarget): () => Promise<WebSocket> {
  let kept: Promise<{ token: string; path: string; goodUntil: number }> | null = null;
  const mint = async () => {
    const { token, expires_at, websocket_path } = await unwrap(
      target.client.POST('/api/v1/allocations/{allocation_id}/stream-token', {
        params: { path: { allocation_id: target.allocationId } },
        body: { port: target.port },
      }),
    );
    if (!token) throw new Error('The platform did not issue a stream token.');
    return { token, path: websocket_path, goodUntil: Date.parse(expires_at) - SPARE_MS };
  };
  return async () => {
    const known = await kept?.catch(() => null);
    if (!known || known.goodUntil < Date.now()) kept = mint();
    const { token, path } = await kept!;
    return await connectSocket(target.url, path, { authorization: `Bearer ${token}` });
  };
}

/** Resolves when both sides have ended, or either is lost. */
export async function pipeUntilClosed(socket: WebSocket, stream: Duplex): Promise<void> {
  await new Promise<void>((resolve) => {
    pipeSocket(socket, stream, { onClose: () => resolve() });
  });
}
