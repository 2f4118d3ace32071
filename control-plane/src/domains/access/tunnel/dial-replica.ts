import { request as send } from 'node:https';
import type { Duplex } from 'node:stream';
import {
  GRANT_HEADER,
  REASON_HEADER,
  REPLICA_STREAM_PATH,
  STREAM_PROTOCOL,
  TUNNEL_KIND_HEADER,
  type TunnelKind,
} from '@gpuaas/contracts/tunnel';
import { GuestUnreachableError } from './guest-unreachable.ts';

/** Must exceed the time that the other gateway gives the agent. */
const ANSWER_TIMEOUT_MS = 15_000;

/**
 * A stream through the gateway that holds the tunnel. It proves itself with a certificate of our CA, we prove ourselves
 * with the grant, which only a gateway can sign.
 */
export async function dialReplica(
  address: string,
  kind: TunnelKind,
  grantHeader: string,
  ca: string,
): Promise<Duplex> {
  return await new Promise((resolve, reject) => {
    const asked = send(`https://${address}${REPLICA_STREAM_PATH}`, {
      ca,
      minVersion: 'TLSv1.3',
      agent: false,
      headers: {
        connection: 'Upgrade',
        upgrade: STREAM_PROTOCOL,
        [GRANT_HEADER]: grantHeader,
        [TUNNEL_KIND_HEADER]: kind,
      },
    });
    const fail = (reason: string): void => {
      clearTimeout(timer);
      asked.destroy();
      reject(new GuestUnreachableError(reason));
    };
    const timer = setTimeout(() => fail('the other gateway did not answer in time'), ANSWER_TIMEOUT_MS);
    asked.on('error', () => fail('the gateway that the host is connected to cannot be reached'));
    asked.once('response', (answer) => {
      answer.resume();
      fail(String(answer.headers[REASON_HEADER] ?? `the other gateway refused with ${answer.statusCode}`));
    });
    asked.once('upgrade', (_answer, socket, head) => {
      clearTimeout(timer);
      socket.on('error', () => socket.destroy());
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asked.end();
  });
}
