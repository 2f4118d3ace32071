/** Headers of one connection. They end at the gateway. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
]);

/** A client could forge these; the gateway sets its own where it has one. */
const NOT_TO_GUESTS = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
  'x-gpuaas-key',
  'x-gpuaas-user',
  'service-worker-navigation-preload',
  'host',
  'cookie',
]);

/** They would reach the apps beside this one, our cookies or our TLS. */
const NOT_TO_CLIENTS = new Set([
  'alt-svc',
  'clear-site-data',
  'nel',
  'origin-agent-cluster',
  'report-to',
  'set-cookie',
  'strict-transport-security',
]);

/** On the console's address they would be the console's own. */
const NOT_ON_CONSOLE = new Set([
  ...NOT_TO_CLIENTS,
  'access-control-allow-credentials',
  'access-control-allow-origin',
  'content-security-policy',
  'cross-origin-embedder-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'link',
  'referrer-policy',
  'refresh',
  'service-worker-allowed',
  'sourcemap',
  'x-content-type-options',
  'x-frame-options',
]);

const OUR_COOKIE = /^\s*(?:__host-|__secure-)?gpuaas_/i;
const OUR_KEY = /^\s*bearer\s+gp[a-z]_/i;

/** Name, value, name, value: the form that node:http keeps order and case in. */
type RawHeaders = readonly string[];

export interface GuestHeaders {
  host: string;
  scheme: 'http' | 'https';
  clientAddress: string;
  /** Null for a visitor who is not signed in: the guest learns nothing of who it is. */
  actorId: string | null;
}

export function headersToGuest(
  raw: RawHeaders,
  { host, scheme, clientAddress, actorId }: GuestHeaders,
): string[] {
  const kept = passed(raw, NOT_TO_GUESTS, (name, value) => name !== 'authorization' || !OUR_KEY.test(value));
  const cookies = valuesOf(raw, 'cookie')
    .flatMap((line) => line.split(/;\s*/))
    .filter((cookie) => cookie !== '' && !OUR_COOKIE.test(cookie));
  if (cookies.length > 0) kept.push('cookie', cookies.join('; '));
  kept.push('host', host, 'x-forwarded-for', clientAddress, 'x-forwarded-host', host);
  kept.push('x-forwarded-proto', scheme);
  if (actorId !== null) kept.push('x-gpuaas-user', actorId);
  return kept;
}

export function headersToClient(raw: RawHeaders): string[] {
  const kept = passed(raw, NOT_TO_CLIENTS);
  for (const cookie of valuesOf(raw, 'set-cookie')) {
    if (!OUR_COOKIE.test(cookie)) kept.push('set-cookie', cookie.replaceAll(/;\s*domain\s*=[^;]*/gi, ''));
  }
  kept.push('origin-agent-cluster', '?1');
  return kept;
}

/** For programs at the console's address: nothing of it takes effect in a browser. */
export function headersToProgram(raw: RawHeaders): string[] {
  return passed(raw, NOT_ON_CONSOLE);
}

function passed(
  raw: RawHeaders,
  dropped: ReadonlySet<string>,
  keeps: (name: string, value: string) => boolean = () => true,
): string[] {
  const named = new Set(valuesOf(raw, 'connection').flatMap((line) => line.toLowerCase().split(/\s*,\s*/)));
  const kept: string[] = [];
  eachHeader(raw, (name, value, written) => {
    if (HOP_BY_HOP.has(name) || named.has(name) || dropped.has(name) || !keeps(name, value)) return;
    kept.push(written, value);
  });
  return kept;
}

function valuesOf(raw: RawHeaders, wanted: string): string[] {
  const values: string[] = [];
  eachHeader(raw, (name, value) => {
    if (name === wanted) values.push(value);
  });
  return values;
}

function eachHeader(raw: RawHeaders, visit: (name: string, value: string, written: string) => void): void {
  for (let index = 0; index < raw.length; index += 2) {
    const written = raw[index] ?? '';
    visit(written.toLowerCase(), raw[index + 1] ?? '', written);
  }
}
