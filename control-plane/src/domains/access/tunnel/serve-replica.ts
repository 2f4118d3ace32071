import { createPublicKey, type KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { verifyCanonical } from '@gpuaas/contracts/signing';
import type { AccessGrant } from '@gpuaas/contracts/tasks';
import {
  connectAuthority,
  decodeGrant,
  GRANT_HEADER,
  REASON_HEADER,
  REPLICA_STREAM_PATH,
  STREAM_PROTOCOL,
  TUNNEL_KIND_HEADER,
} from '@gpuaas/contracts/tunnel';
import type { Services } from '../../../platform/services.ts';
import type { StreamMetrics } from '../../../platform/telemetry/stream-metrics.ts';
import { endSocket } from '../../../platform/http/wire/end-socket.ts';
import { openTunnelStream } from './open-tunnel-stream.ts';
import type { TunnelHub } from './tunnel-hub.ts';

export function isStreamPath(url: string | undefined): boolean {
  return url?.split('?')[0] === REPLICA_STREAM_PATH;
}

/** Carries a stream for another gateway, under the grant that it signed; the agent checks the grant again. */
export async function serveReplica(
  services: Pick<Services, 'keys' | 'clock' | 'log'>,
  hub: TunnelHub,
  metrics: StreamMetrics,
  request: IncomingMessage,
  socket: Duplex,
): Promise<void> {
  const refuse = (status: string, reason: string): void => {
    metrics.refused('replica');
    services.log.warn({ reason }, 'a stream for another gateway was refused');
    endSocket(socket, `HTTP/1.1 ${status}\r\n${REASON_HEADER}: ${reason}\r\nconnection: close\r\n\r\n`);
  };
  const header = request.headers[GRANT_HEADER];
  const publicKey = createPublicKey(services.keys.signing.privateKey);
  const grant = typeof header === 'string' ? signedGrant(header, publicKey) : null;
  if (typeof header !== 'string' || !grant || Date.parse(grant.expires_at) <= services.clock.now().getTime())
    return refuse('403 Forbidden', 'grant_invalid');
  const kind = request.headers[TUNNEL_KIND_HEADER] === 'apps' ? 'apps' : 'terminals';
  const session = hub.session(grant.node_id, kind);
  if (!session) return refuse('404 Not Found', 'the host is not connected to the gateway');
  let stream: Duplex;
  try {
    stream = await openTunnelStream(session, header, connectAuthority(grant));
  } catch (error) {
    return refuse(
      '502 Bad Gateway',
      (error instanceof Error ? error.message : String(error)).replaceAll(/[^\x20-\x7e]/g, ' '),
    );
  }
  if (socket.destroyed) return void stream.destroy();
  const metered = metrics.opened('replica');
  stream.on('data', (chunk: Buffer) => metered.fromGuest(chunk.length));
  socket.on('data', (chunk: Buffer) => metered.toGuest(chunk.length));
  stream.once('close', () => metered.close());
  endTogether(stream, socket);
  endTogether(socket, stream);
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${STREAM_PROTOCOL}\r\n\r\n`,
  );
  stream.pipe(socket);
  socket.pipe(stream);
}

/** Data received before the end is still being written. */
function endTogether(from: Duplex, to: Duplex): void {
  from.once('close', () => {
    if (from.readableEnded && !to.writableFinished && !to.destroyed) to.once('finish', () => to.destroy());
    else to.destroy();
  });
}

function signedGrant(header: string, publicKey: KeyObject): AccessGrant | null {
  try {
    const { grant, signature } = decodeGrant(header);
    return verifyCanonical(grant, signature, publicKey) ? grant : null;
  } catch {
    return null;
  }
}
