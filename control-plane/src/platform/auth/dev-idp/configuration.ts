import { randomBytes } from 'node:crypto';
import { errors } from 'oidc-provider';
import type { Configuration, Grant, KoaContextWithOIDC } from 'oidc-provider';
import { API_AUDIENCE, API_SCOPE, CLI_CLIENT_ID, clientMetadata } from './clients.ts';
import type { DevIdpClients } from './clients.ts';
import { createMemoryAdapter } from './memory-adapter.ts';
import { providerPages } from './provider-pages.ts';
import { claimsOf } from './dev-people.ts';
import type { DevPerson } from './dev-people.ts';
import type { SigningKeys } from './signing-keys.ts';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;
const OIDC_SCOPES = 'openid email profile offline_access';

type Parts = { mountPath: string; people: DevPerson[]; clients: DevIdpClients; keys: SigningKeys };

export function providerConfiguration({ mountPath, people, clients, keys }: Parts): Configuration {
  const personWith = (sub: string): DevPerson | undefined => people.find((person) => person.sub === sub);
  const pages = providerPages(new URL(clients.consoleRedirectUri).origin);
  return {
    adapter: createMemoryAdapter(),
    jwks: keys,
    clients: clientMetadata(clients),
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    // The API's scope is not listed here: it belongs to the resource, not to the provider.
    scopes: ['openid', 'offline_access'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    // The API's tokens cannot be used at the userinfo endpoint, so the ID token carries the claims.
    conformIdTokenClaims: false,
    // New at each start, as are the sign-ins that these cookies name.
    cookies: {
      keys: [randomBytes(32).toString('base64url')],
      long: { path: mountPath || '/', httpOnly: true, sameSite: 'lax', signed: true },
    },
    pkce: { required: (_ctx, client) => client.clientId !== CLI_CLIENT_ID },
    findAccount: (_ctx, sub) => {
      const person = personWith(sub);
      return person && { accountId: sub, claims: () => claimsOf(person) };
    },
    extraTokenClaims: (_ctx, token) => {
      const person = 'accountId' in token ? personWith(token.accountId) : undefined;
      return person && { email: person.email, email_verified: true, name: person.name };
    },
    loadExistingGrant: grantEverything,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    // Signing out in the browser ends the console's tokens but not those of the command line.
    expiresWithSession: (_ctx, code) => code.clientId !== CLI_CLIENT_ID,
    interactions: { url: (_ctx, interaction) => `${mountPath}/interaction/${interaction.uid}` },
    renderError: pages.renderError,
    clientBasedCORS: () => false,
    features: {
      devInteractions: { enabled: false },
      deviceFlow: { enabled: true, ...pages.deviceFlow },
      rpInitiatedLogout: { enabled: true, ...pages.rpInitiatedLogout },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => API_AUDIENCE,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => {
          if (resource !== API_AUDIENCE) throw new errors.InvalidTarget();
          return {
            scope: API_SCOPE,
            audience: API_AUDIENCE,
            accessTokenFormat: 'jwt',
            accessTokenTTL: 15 * MINUTE,
            jwt: { sign: { alg: 'ES256' } },
          };
        },
      },
    },
    ttl: {
      AccessToken: 15 * MINUTE,
      AuthorizationCode: MINUTE,
      DeviceCode: 10 * MINUTE,
      Grant: 14 * DAY,
      IdToken: 60 * MINUTE,
      Interaction: 30 * MINUTE,
      RefreshToken: 14 * DAY,
      Session: 14 * DAY,
    },
  };
}

/** Both clients are ours, so no consent is asked for. */
async function grantEverything(ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { client, session, provider, result } = ctx.oidc;
  if (!client || !session?.accountId) return undefined;
  const known = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
  const kept = known === undefined ? undefined : await provider.Grant.find(known);
  if (kept?.accountId === session.accountId) return kept;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(OIDC_SCOPES);
  grant.addOIDCClaims(['email', 'email_verified', 'name']);
  grant.addResourceScope(API_AUDIENCE, API_SCOPE);
  await grant.save();
  return grant;
}
