/** Field names whose values never leave the process, wherever they are nested. */
export const SECRET_FIELDS = new Set([
  'authorization',
  'cookie',
  'set-cookie',
  'password',
  'secret',
  'token',
  'api_key',
  'apikey',
  'client_secret',
  'code_verifier',
  'csrf_token',
  'x-csrf-token',
  'private_key',
  'private_key_pem',
  'sealed_private_key',
  'csr_pem',
  'user_data',
]);

const SECRET_VALUES = [
  /gpk_[A-Za-z0-9_-]{16,}/g,
  /gpe_[A-Za-z0-9_.-]{16,}/g,
  /whsec_[A-Za-z0-9+/=]{16,}/g,
  /eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
  /(postgres(?:ql)?:\/\/[^:/\s]+):[^@\s]+@/g,
];

export const REDACTED = '[REDACTED]';

export function sanitizeText(text: string): string {
  let clean = text;
  for (const pattern of SECRET_VALUES) {
    clean = clean.replace(pattern, (_match, kept: unknown) =>
      typeof kept === 'string' ? `${kept}:${REDACTED}@` : REDACTED,
    );
  }
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
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      SECRET_FIELDS.has(key.toLowerCase()) ? REDACTED : sanitize(item, depth + 1),
    ]),
  );
}
