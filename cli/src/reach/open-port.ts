import type { Duplex } from 'node:stream';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { joinSocket } from '@gpuaas/sdk/join-socket';
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

/** A token is asked for again in good time before it ends. */
const SPARE_MS = 60_000;

/** Opens connections to one port of a machine, with one token for many. */
export function portOpener(target: PortTarget): () => Promise<WebSocket> {
  let kept: Promise<{ token: string; path: string; goodUntil: number }> | null = null;
  const mint = async () => {
    const { token, expires_at, websocket_path } = await unwrap(
      target.client.POST('/api/v1/allocations/{allocation_id}/stream-token', {
        params: { path: { allocation_id: target.allocationId } },
        body: { port: target.port },
      }),
    );
    if (!token) throw new Error('The platform gave no stream token.');
    return { token, path: websocket_path, goodUntil: Date.parse(expires_at) - SPARE_MS };
  };
  return async () => {
    const known = await kept?.catch(() => null);
    if (!known || known.goodUntil < Date.now()) kept = mint();
    const { token, path } = await kept!;
    return await connectSocket(target.url, path, { authorization: `Bearer ${token}` });
  };
}

/** Until both have said all they had to, or either is lost. */
export async function carry(socket: WebSocket, stream: Duplex): Promise<void> {
  await new Promise<void>((resolve) => {
    joinSocket(socket, stream, { onClose: () => resolve() });
  });
}
