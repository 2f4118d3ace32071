import { expect, it } from 'vitest';
import type { Credential } from './caller.ts';
import { serializeCredential, parseCredential } from './serialize-credential.ts';

const credentials: Credential[] = [
  { kind: 'api_key', id: 'k', scopes: ['allocation.connect'] },
  { kind: 'api_key', id: 'k', scopes: null },
  { kind: 'service_account_token', id: 't' },
  { kind: 'sign_in', csrfToken: '', idHash: Buffer.from([0, 1, 255]), idleSeconds: 60 },
  {
    kind: 'access_token',
    issuer: 'i',
    subject: 's',
    ofPlatform: true,
    issuedAt: new Date(500),
    expiresAt: new Date(1000),
  },
];

it.each(credentials)('a credential ($kind) is the same after it was stored', (credential) => {
  expect(parseCredential(JSON.parse(serializeCredential(credential)))).toEqual(credential);
});

it('the CSRF token of a sign-in is not stored', () => {
  const kept = serializeCredential({
    kind: 'sign_in',
    csrfToken: 'c5rf',
    idHash: Buffer.alloc(1),
    idleSeconds: 1,
  });
  expect(kept).not.toContain('c5rf');
});
