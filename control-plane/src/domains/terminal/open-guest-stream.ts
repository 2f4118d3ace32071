import { constants, type ClientHttp2Stream } from 'node:http2';
import { signCanonical } from '@gpuaas/contracts/signing';
import { encodeGrant, GRANT_HEADER, REASON_HEADER } from '@gpuaas/contracts/tunnel';
import type { Services } from '../../platform/services.ts';
import { newId } from '../../platform/ids.ts';
import type { TunnelHub } from './tunnel-hub.ts';

const OPEN_TIMEOUT_MS = 10_000;

export class GuestUnreachableError extends Error {}

/** A byte stream to one port of an allocation's machine, under a short-lived grant that the agent checks. */
export async function openGuestStream(
  services: Services,
  hub: TunnelHub,
  target: { nodeId: string; allocationId: string; userId: string; port: number },
): Promise<ClientHttp2Stream> {
  const session = hub.session(target.nodeId);
  if (!session || session.destroyed)
    throw new GuestUnreachableError('the host is not connected to the gateway');
  const grant = {
    grant_id: newId(),
    node_id: target.nodeId,
    allocation_id: target.allocationId,
    user_id: target.userId,
    port: target.port,
    expires_at: new Date(
      services.clock.now().getTime() + services.policies.get('terminal.grant_ttl_seconds') * 1000,
    ).toISOString(),
  };
  const signature = signCanonical(grant, services.keys.signing.privateKey);
  const stream = session.request(
    {
      ':method': 'CONNECT',
      ':authority': `guest:${target.port}`,
      [GRANT_HEADER]: encodeGrant({ grant, signature }),
    },
    { endStream: false },
  );
  return await new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      clearTimeout(timer);
      stream.close(constants.NGHTTP2_CANCEL);
      reject(new GuestUnreachableError(reason));
    };
    const timer = setTimeout(() => fail('the host did not answer in time'), OPEN_TIMEOUT_MS);
    stream.once('error', (error) => fail(error.message));
    stream.once('close', () => fail('the host closed the connection'));
    stream.once('response', (headers) => {
      if (headers[':status'] !== 200) {
        fail(String(headers[REASON_HEADER] ?? `the host refused with ${headers[':status']}`));
        return;
      }
      clearTimeout(timer);
      stream.removeAllListeners('close');
      stream.removeAllListeners('error');
      stream.on('error', () => undefined);
      resolve(stream);
    });
  });
}
