import { jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { systemClock } from '../clock.ts';
import { present } from '../present.ts';
import { SIGNATURE_ALGORITHMS } from './access-token.ts';
import type { SignInProvider } from './trusted-providers.ts';

/** Secrets of one sign-in that the provider's answer must match. */
export interface LoginChecks {
  state: string;
  nonce: string;
  codeVerifier: string;
  clockSkewSeconds: number;
}

/** A person as a provider confirmed them. */
export interface ConfirmedPerson {
  issuer: string;
  subject: string;
  profile: Record<string, unknown>;
  /** Null from a provider without ID tokens. */
  idToken: string | null;
}

/** Exchanges the code of the provider's answer and verifies the ID token. */
export async function confirmOpenId(
  trusted: SignInProvider,
  callbackUrl: URL,
  checks: LoginChecks,
): Promise<ConfirmedPerson> {
  const configuration = await trusted.provider.as(trusted.client);
  const tokens = await oidc.authorizationCodeGrant(configuration, callbackUrl, {
    pkceCodeVerifier: checks.codeVerifier,
    expectedState: checks.state,
    expectedNonce: checks.nonce,
    idTokenExpected: true,
  });
  const idToken = present(tokens.id_token, 'ID token');
  const claims = await verifyIdToken(idToken, trusted, checks.clockSkewSeconds);
  const profile = claims['email']
    ? claims
    : await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub);
  return { issuer: claims.iss, subject: claims.sub, profile, idToken };
}

/** openid-client trusts TLS alone; we also verify ID tokens with the provider's keys. */
async function verifyIdToken(
  idToken: string,
  { provider, client }: SignInProvider,
  clockTolerance: number,
): Promise<Record<string, unknown> & { iss: string; sub: string }> {
  const { payload } = await jwtVerify<{ iss: string; sub: string }>(idToken, provider.findKey, {
    issuer: (await provider.metadata()).issuer,
    audience: client.clientId,
    algorithms: SIGNATURE_ALGORITHMS,
    clockTolerance,
    requiredClaims: ['exp', 'sub', 'nonce'],
    currentDate: systemClock.now(),
  });
  return payload;
}
