import { errors, jwtVerify, type JWTHeaderParameters, type JWTPayload } from 'jose';
import type { Provider } from './provider.ts';

/** Algorithms whose signatures a holder of the public key cannot forge. */
export const SIGNATURE_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

export interface TokenRules {
  audience: string;
  now: Date;
  clockSkewSeconds: number;
}

/** The token is refused; the message gives the reason and no part of the token. */
export class TokenRejectedError extends Error {}

export interface AccessToken {
  claims: JWTPayload & { iss: string; sub: string; exp: number };
}

/**
 * Verifies a JWT access token of a provider. Throws `TokenRejectedError`, or a problem if its keys cannot be
 * fetched.
 */
export async function verifyAccessToken(
  token: string,
  provider: Provider,
  { audience, now, clockSkewSeconds }: TokenRules,
): Promise<AccessToken> {
  const { issuer } = await provider.metadata();
  const { payload, protectedHeader } = await jwtVerify(token, provider.findKey, {
    issuer,
    audience,
    algorithms: SIGNATURE_ALGORITHMS,
    clockTolerance: clockSkewSeconds,
    currentDate: now,
    requiredClaims: ['exp', 'sub'],
  }).catch((error: unknown) => {
    throw error instanceof errors.JOSEError ? new TokenRejectedError(reason(error), { cause: error }) : error;
  });
  refuseOtherTokens(protectedHeader, payload);
  if (payload.iat !== undefined && payload.iat > now.getTime() / 1000 + clockSkewSeconds) {
    throw new TokenRejectedError('it was issued in the future');
  }
  return { claims: payload as AccessToken['claims'] };
}

/**
 * The same keys sign ID tokens, logout tokens and more. RFC 9068 marks access tokens by `typ`; other
 * providers use a claim, and an ID token is recognised by the hash of the token it came with.
 */
function refuseOtherTokens({ typ }: JWTHeaderParameters, claims: JWTPayload): void {
  const kind = typ?.toLowerCase().replace(/^application\//, '');
  if (kind !== undefined && kind !== 'at+jwt' && kind !== 'jwt') {
    throw new TokenRejectedError('it is not an access token');
  }
  const use = claims['token_use'] ?? 'access';
  const keycloakType = claims['typ'] ?? 'Bearer';
  const ofIdToken = ['at_hash', 'c_hash', 's_hash', 'events'].some((name) => name in claims);
  if (use !== 'access' || keycloakType !== 'Bearer' || ofIdToken) {
    throw new TokenRejectedError('it is not an access token');
  }
  // Bound to a key that the caller would have to prove, which a bearer does not.
  if ('cnf' in claims) throw new TokenRejectedError('it is bound to a key of its owner');
}

function reason(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JWTClaimValidationFailed) return `its ${error.claim} does not fit`;
  if (error instanceof errors.JWKSNoMatchingKey) return 'its key is not known';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'its algorithm is not accepted';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong';
  return 'it cannot be read';
}
