import { describe, expect, it } from 'vitest';
import { isSecretName, sanitize, sanitizeText } from './sanitize.ts';
import { SECRET_PREFIXES } from './secret-prefixes.ts';

describe('sanitize', () => {
  it.each([
    'postgres://u:hunter2@h:5432/db',
    'postgresql://u:hun@ter2@h/db',
    'postgres://:hunter2@h/db',
    'nats://u:hunter2@h:4222',
    'https://u:hunter2@h/path?x=1',
    'redis://:hunter2@h',
    'Authorization: Bearer hunter2',
    'gpk_hunter2hunter2hunter2hunter2',
    '-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----',
  ])('hides the secret in %j', (text) => {
    expect(sanitizeText(`it said ${text}`)).not.toMatch(/hun|ter2/);
  });

  it.each(Object.entries(SECRET_PREFIXES))('hides every secret of ours: %s', (_kind, prefix) => {
    expect(sanitizeText(`sent "${prefix}${'aB0_-'.repeat(9)}.${'f'.repeat(64)}" today`)).toBe(
      'sent "[REDACTED]" today',
    );
    expect(sanitizeText(`${prefix}${'+/a0'.repeat(10)}=`)).toBe('[REDACTED]');
  });

  it('keeps values that are no secret', () => {
    const text = 'GET https://host:8443/node/v1 at 12:30, mail a@b.c, http://h/x?y=1@2';
    expect(sanitizeText(text)).toBe(text);
  });

  it.each([
    'token',
    'X-Api-Key',
    'clientSecret',
    'secret_key',
    'passwords',
    'pwd',
    'credentials',
    'user_data',
  ])('knows %s as the name of a secret', (name) => {
    expect(isSecretName(name)).toBe(true);
    expect(sanitize({ deep: [{ [name]: 'hunter2' }] })).toEqual({ deep: [{ [name]: '[REDACTED]' }] });
  });

  it('sanitizes errors and their causes', () => {
    const error = new Error('no connection to postgres://u:hunter2@h/db', { cause: { password: 'hunter2' } });
    expect(JSON.stringify(sanitize(error))).not.toContain('hunter2');
  });
});
