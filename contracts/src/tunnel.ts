import { isRecord } from './is-record.ts';
import type { AccessGrant } from '../generated/tasks.ts';
import { parseAccessGrant } from './tasks.ts';

/**
 * The tunnel is one WebSocket that the agent opens; inside it HTTP/2 runs in the other direction: the gateway
 * is the client, the agent the server. A stream is `CONNECT` to the grant's resource, with the grant in this
 * header; the agent answers 200 and pipes bytes, or refuses with a status and a reason.
 */
export const GRANT_HEADER = 'x-gpuaas-grant';
export const REASON_HEADER = 'x-gpuaas-reason';
export const TUNNEL_PATH = '/node/v1/tunnel';
/**
 * An agent opens one tunnel for terminals and streams, and one for the bytes of apps, so that a download does not delay
 * keystrokes. The second has a separate path: a gateway of an earlier release refuses it and keeps the first.
 */
export const TUNNEL_PATHS = { terminals: TUNNEL_PATH, apps: '/node/v1/app-tunnel' } as const;
export type TunnelKind = keyof typeof TUNNEL_PATHS;
export const TUNNEL_KINDS: readonly TunnelKind[] = ['terminals', 'apps'];
/** Names the tunnel that a gateway wants a stream of another replica to take. */
export const TUNNEL_KIND_HEADER = 'x-gpuaas-tunnel';

/** The kind of tunnel that a URL opens; null for any other URL. */
export function tunnelKindOf(url: string | undefined): TunnelKind | null {
  const path = url?.split('?')[0];
  return TUNNEL_KINDS.find((kind) => TUNNEL_PATHS[kind] === path) ?? null;
}

/**
 * Path for a gateway to request a stream from the replica that holds the tunnel, with the grant in the same
 * header.
 */
export const REPLICA_STREAM_PATH = '/node/v1/tunnel-streams';
export const STREAM_PROTOCOL = 'gpuaas-stream';

export interface SignedGrant {
  grant: AccessGrant;
  signature: string;
}

/** Target of `CONNECT` under the grant. It cannot name an address: the agent knows the guest's. */
export function connectAuthority({ resource, port }: Pick<AccessGrant, 'resource' | 'port'>): string {
  return resource === 'port' ? `guest:${port}` : 'console-log:0';
}

export function encodeGrant(signed: SignedGrant): string {
  return Buffer.from(JSON.stringify(signed), 'utf8').toString('base64url');
}

/** Shape only; the caller checks signature, node and expiry. */
export function decodeGrant(header: string): SignedGrant {
  const value: unknown = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'));
  if (!isRecord(value) || typeof value['signature'] !== 'string')
    throw new TypeError('grant has no signature');
  return { grant: parseAccessGrant(value['grant']), signature: value['signature'] };
}
