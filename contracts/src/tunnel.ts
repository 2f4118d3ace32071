import type { AccessGrant } from '../generated/tasks.ts';
import { parseAccessGrant } from './tasks.ts';

/**
 * The tunnel is one WebSocket that the agent opens; inside it HTTP/2 runs the other way round: the gateway is
 * the client, the agent the server. A stream is `CONNECT` to what the grant names, with the grant in this header;
 * the agent answers 200 and pipes bytes, or refuses with a status and a reason.
 */
export const GRANT_HEADER = 'x-gpuaas-grant';
export const REASON_HEADER = 'x-gpuaas-reason';
export const TUNNEL_PATH = '/node/v1/tunnel';
/** Where a gateway asks the one that holds a tunnel for a stream in it, with the same grant in the same header. */
export const STREAM_PATH = '/node/v1/tunnel-streams';
export const STREAM_PROTOCOL = 'gpuaas-stream';

export interface SignedGrant {
  grant: AccessGrant;
  signature: string;
}

/** What `CONNECT` asks for under the grant. There is no way to name an address: the agent knows the guest's. */
export function authorityOf({ resource, port }: Pick<AccessGrant, 'resource' | 'port'>): string {
  return resource === 'port' ? `guest:${port}` : 'console-log:0';
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
