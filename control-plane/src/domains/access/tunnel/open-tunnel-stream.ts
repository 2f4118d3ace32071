import { constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { GRANT_HEADER, REASON_HEADER } from '@gpuaas/contracts/tunnel';
import { GuestUnreachableError } from './guest-unreachable.ts';

const OPEN_TIMEOUT_MS = 10_000;

/**
 * Sends the request to the agent at the other end of the tunnel; resolves when it has connected the stream to
 * the guest.
 */
export async function openTunnelStream(
  session: ClientHttp2Session,
  grantHeader: string,
  authority: string,
): Promise<ClientHttp2Stream> {
  const stream = session.request(
    { ':method': 'CONNECT', ':authority': authority, [GRANT_HEADER]: grantHeader },
    { endStream: false },
  );
  return await new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      clearTimeout(timer);
      stream.close(constants.NGHTTP2_CANCEL);
      reject(new GuestUnreachableError(reason));
    };
    const timer = setTimeout(() => fail('the host did not answer in time'), OPEN_TIMEOUT_MS);
    stream.on('error', (error) => fail(error.message));
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
