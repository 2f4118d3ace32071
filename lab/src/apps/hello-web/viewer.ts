import type { IncomingMessage } from 'node:http';

export interface Viewer {
  /** As the gateway gives it; null where the app is not behind one. */
  user: string | null;
  host: string;
  /** Headers that the gateway set, for a developer to see what an app gets. */
  headers: Record<string, string>;
}

const FROM_GATEWAY = /^(x-gpuaas-|x-forwarded-)/;

/** The gateway replaces these headers, so what arrives through it cannot be forged by the viewer. */
export function viewerOf({ headers }: IncomingMessage): Viewer {
  const fromGateway = Object.entries(headers)
    .filter(([name]) => FROM_GATEWAY.test(name))
    .map(([name, value]) => [name, String(value)]);
  const user = headers['x-gpuaas-user'];
  return {
    user: typeof user === 'string' && user !== '' ? user : null,
    host: headers.host ?? '',
    headers: Object.fromEntries(fromGateway),
  };
}
