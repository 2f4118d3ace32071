import type { Credential } from './caller.ts';

/** A credential by what finds it again, without anything that could be used in its place. */
type KeptCredential =
  | { kind: 'api_key'; id: string; scopes: readonly string[] | null }
  | { kind: 'service_account_token'; id: string }
  | { kind: 'session'; idHash: string; idleSeconds: number }
  | { kind: 'access_token'; issuer: string; subject: string; ofPlatform: boolean; expiresAt: string };

/** As it can be stored, for what begins later with the rights of this request. */
export function keepCredential(credential: Credential): string {
  return JSON.stringify(kept(credential));
}

function kept(credential: Credential): KeptCredential {
  switch (credential.kind) {
    case 'api_key':
    case 'service_account_token':
      return credential;
    case 'session':
      return {
        kind: 'session',
        idHash: credential.idHash.toString('hex'),
        idleSeconds: credential.idleSeconds,
      };
    case 'access_token':
      return { ...credential, expiresAt: credential.expiresAt.toISOString() };
  }
}

/** The stored form as the database gives it back. A session comes without its CSRF token, which is the browser's. */
export function openCredential(stored: unknown): Credential {
  const credential = stored as KeptCredential;
  switch (credential.kind) {
    case 'api_key':
    case 'service_account_token':
      return credential;
    case 'session':
      return { ...credential, idHash: Buffer.from(credential.idHash, 'hex'), csrfToken: '' };
    case 'access_token':
      return { ...credential, expiresAt: new Date(credential.expiresAt) };
  }
}
