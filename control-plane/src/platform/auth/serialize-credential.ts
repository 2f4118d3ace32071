import type { Credential } from './caller.ts';

/** Identifies a credential without anything that could be used in its place. */
type KeptCredential =
  | { kind: 'api_key'; id: string; scopes: readonly string[] | null }
  | { kind: 'service_account_token'; id: string }
  | { kind: 'app_instance_token'; id: string }
  | { kind: 'sign_in'; idHash: string; idleSeconds: number }
  | {
      kind: 'access_token';
      issuer: string;
      subject: string;
      ofPlatform: boolean;
      issuedAt: string;
      expiresAt: string;
    };

/** Stored form, for work that starts later with the rights of this request. */
export function serializeCredential(credential: Credential): string {
  return JSON.stringify(keptCredential(credential));
}

/** The stored form as a value, for what stores it among other fields. */
export function keptCredential(credential: Credential): KeptCredential {
  switch (credential.kind) {
    case 'api_key':
    case 'service_account_token':
    case 'app_instance_token':
      return credential;
    case 'sign_in':
      return {
        kind: 'sign_in',
        idHash: credential.idHash.toString('hex'),
        idleSeconds: credential.idleSeconds,
      };
    case 'access_token':
      return {
        ...credential,
        issuedAt: credential.issuedAt.toISOString(),
        expiresAt: credential.expiresAt.toISOString(),
      };
  }
}

/** Parses the stored form. A sign-in has no CSRF token, which belongs to the browser. */
export function parseCredential(stored: unknown): Credential {
  const credential = stored as KeptCredential;
  switch (credential.kind) {
    case 'api_key':
    case 'service_account_token':
    case 'app_instance_token':
      return credential;
    case 'sign_in':
      return { ...credential, idHash: Buffer.from(credential.idHash, 'hex'), csrfToken: '' };
    case 'access_token':
      return {
        ...credential,
        issuedAt: new Date(credential.issuedAt),
        expiresAt: new Date(credential.expiresAt),
      };
  }
}
