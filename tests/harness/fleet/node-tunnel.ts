import { once } from 'node:events';
import http2 from 'node:http2';
import { toRealSocket } from '@gpuaas/contracts/real-socket';
import { TUNNEL_PATH } from '@gpuaas/contracts/tunnel';
import { createWebSocketStream, WebSocket } from 'ws';
import type { TestApi } from '../api.ts';
import { eventually } from '../eventually.ts';
import type { NodePort, TestIdentity } from './node-port.ts';

/** Dials the tunnel of a host and says nothing more. */
export function dialTunnel(api: TestApi, node: NodePort, identity: TestIdentity): WebSocket {
  const ca = api.services.authorities.bundle.pem;
  const options = { ...identity, ca, servername: 'localhost' };
  return new WebSocket(`wss://127.0.0.1:${node.port}${TUNNEL_PATH}`, options);
}

/** A tunnel as an agent holds it; `closed` comes when the platform has cut it. */
export async function openTunnel(
  api: TestApi,
  node: NodePort,
  nodeId: string,
  identity: TestIdentity,
): Promise<{ closed: Promise<unknown> }> {
  const tunnel = dialTunnel(api, node, identity);
  const closed = once(tunnel, 'close');
  const stream = createWebSocketStream(tunnel, { allowHalfOpen: false });
  stream.on('error', () => undefined);
  const agent = http2.createServer();
  agent.on('sessionError', () => undefined);
  agent.emit('connection', await toRealSocket(stream));
  await eventually('the tunnel', async () => (node.hub.nodeIds().includes(nodeId) ? true : null));
  return { closed };
}
