import { SECRET_PREFIXES } from './secret-prefixes.ts';

/** Suffixes of field names whose values never leave the process, at any depth and in any spelling. */
const SECRET_ENDINGS = [
  'authorization',
  'cookie',
  'password',
  'passwords',
  'passwd',
  'pwd',
  'passphrase',
  'secret',
  'secrets',
  'secretkey',
  'credentials',
  'token',
  'tokens',
  'apikey',
  'apikeys',
  'codeverifier',
  'privatekey',
  'privatekeypem',
  'csrpem',
  'userdata',
];

const MAX_KNOWN_NAMES = 5000;
const knownNames = new Map<string, boolean>();

/** True for `api_key`, `X-Api-Key`, `apiKey` and `webhookApiKey` alike. */
export function isSecretName(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const secret = SECRET_ENDINGS.some((ending) => plain.endsWith(ending));
  if (knownNames.size < MAX_KNOWN_NAMES) knownNames.set(name, secret);
  return secret;
}

const SECRET_VALUES = [
  new RegExp(`(?:${Object.values(SECRET_PREFIXES).join('|')})[A-Za-z0-9_.+/=-]{16,}`, 'g'),
  /eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
  /(?<=\bBearer )[^\s"',]+/gi,
];

/** `scheme://user:password@host`, to the last `@` before the path: a password may contain one. */
const URL_CREDENTIALS = /(\b[a-z][a-z0-9+.-]*:\/\/[^:/?#\s"']*):[^/?#\s"']*@/gi;

/** Each of the patterns above needs one of these, and nearly no text has any. */
const MAY_HOLD_A_SECRET = new RegExp(
  ['eyJ', '-----BEGIN ', 'Bearer ', '://', ...Object.values(SECRET_PREFIXES)].join('|'),
  'i',
);

export const REDACTED = '[REDACTED]';

export function sanitizeText(text: string): string {
  if (!MAY_HOLD_A_SECRET.test(text)) return text;
  let clean = text.replace(URL_CREDENTIALS, `$1:${REDACTED}@`);
  for (const pattern of SECRET_VALUES) clean = clean.replace(pattern, REDACTED);
  return clean;
}

/** A copy of `value` that may be logged. */
export function sanitize(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return sanitizeText(value);
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return value;
  if (depth > 8) return '[deep]';
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
  if (value instanceof Error) {
    return {
      type: value.name,
      message: sanitizeText(value.message),
      ...('code' in value ? { code: sanitize(value.code, depth + 1) } : {}),
      stack: sanitizeText(value.stack ?? ''),
      ...(value.cause === undefined ? {} : { cause: sanitize(value.cause, depth + 1) }),
    };
  }
  if (Array.isArray(value)) return value.map((item) => sanitize(item, depth + 1));
  return sanitizeEntries(value, depth);
}

/** A copy of fields that may be logged. */
export function sanitizeFields(fields: object): Record<string, unknown> {
  return sanitizeEntries(fields, 0);
}

function sanitizeEntries(fields: object, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, item]) => [
      key,
      isSecretName(key) ? REDACTED : sanitize(item, depth + 1),
    ]),
  );
}
