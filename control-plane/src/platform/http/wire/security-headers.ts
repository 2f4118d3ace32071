/** Pages of other origins may not frame, open, embed or probe ours. */
const ALWAYS: readonly (readonly [string, string])[] = [
  [
    'content-security-policy',
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
];

const YEAR_SECONDS = 365 * 24 * 3600;

/** Headers of every response of the public port. Pages replace the content security policy with their own. */
export function securityHeaders(publicUrl: string): readonly (readonly [string, string])[] {
  if (!publicUrl.startsWith('https:')) return ALWAYS;
  return [...ALWAYS, ['strict-transport-security', `max-age=${YEAR_SECONDS}`]];
}

/** The headers as lines, for responses that are written by hand. */
export function securityHeaderLines(publicUrl: string | null): string[] {
  return securityHeaders(publicUrl ?? '').map(([name, value]) => `${name}: ${value}`);
}
