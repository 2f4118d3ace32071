import type { AccessGrant } from '../generated/tasks.ts';
import { parseAccessGrant } from './tasks.ts';

/**
 * The tunnel is one WebSocket that the agent opens; inside it HTTP/2 runs the other way round: the gateway is
 * the client, the agent the server. A stream is `CONNECT` with the grant in this header; the agent answers 200
 * and pipes bytes, or refuses with a status and a reason.
 */
export const GRANT_HEADER = 'x-gpuaas-grant';
export const REASON_HEADER = 'x-gpuaas-reason';
export const TUNNEL_PATH = '/node/v1/tunnel';

export interface SignedGrant {
  grant: AccessGrant;
  signature: string;
}

export function encodeGrant(signed: SignedGrant): string {
  return Buffer.from(JSON.stringify(signed), 'utf8').toString('base64url');
}

/** Shape only; the caller checks signature, node and expiry. */
export function decodeGrant(header: string): SignedGrant {
  const value = JSON.parse(Buffer.from(header, 'base64url').toString('utf8')) as SignedGrant;
  if (typeof value.signature !== 'string') throw new TypeError('grant has no signature');
  return { grant: parseAccessGrant(value.grant), signature: value.signature };
}
