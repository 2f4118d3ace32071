import { expect, it } from 'vitest';
import type { Credential } from './caller.ts';
import { keepCredential, openCredential } from './kept-credential.ts';

const credentials: Credential[] = [
  { kind: 'api_key', id: 'k', scopes: ['allocation.connect'] },
  { kind: 'api_key', id: 'k', scopes: null },
  { kind: 'service_account_token', id: 't' },
  { kind: 'session', csrfToken: '', idHash: Buffer.from([0, 1, 255]), idleSeconds: 60 },
  { kind: 'access_token', issuer: 'i', subject: 's', ofPlatform: true, expiresAt: new Date(1000) },
];

it.each(credentials)('a credential ($kind) comes back as it was kept', (credential) => {
  expect(openCredential(JSON.parse(keepCredential(credential)))).toEqual(credential);
});

it('the CSRF token of a session is not kept', () => {
  const kept = keepCredential({
    kind: 'session',
    csrfToken: 'c5rf',
    idHash: Buffer.alloc(1),
    idleSeconds: 1,
  });
  expect(kept).not.toContain('c5rf');
});
