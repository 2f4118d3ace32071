import type { components } from '@gpuaas/sdk/contract';
import * as oidc from 'openid-client';
import type { StoredTokens } from './stored-tokens.ts';

type AuthConfiguration = components['schemas']['AuthConfiguration'];

export interface Prompt {
  verification_uri: string;
  verification_uri_complete: string | null;
  user_code: string;
  expires_in: number;
}

/** Signs in at the identity provider with another device's browser (RFC 8628). */
export async function signInByDevice(
  { issuer, cli_client_id: clientId, audience, scopes }: AuthConfiguration,
  show: (prompt: Prompt) => void,
): Promise<StoredTokens> {
  if (clientId === null) {
    throw new Error('This platform does not support CLI sign-in; use an API key (GPUAAS_API_KEY).');
  }
  const provider = await connect(issuer, clientId);
  const scope = [...new Set([...scopes, 'offline_access'])].join(' ');
  const device = await oidc.initiateDeviceAuthorization(provider, { scope, audience });
  show({
    verification_uri: device.verification_uri,
    verification_uri_complete: device.verification_uri_complete ?? null,
    user_code: device.user_code,
    expires_in: device.expires_in,
  });
  const tokens = await oidc.pollDeviceAuthorizationGrant(provider, device, undefined, {
    signal: AbortSignal.timeout(device.expires_in * 1000),
  });
  return kept(issuer, clientId, tokens, null);
}

/** New tokens for old ones, or null when the provider requires a new sign-in. */
export async function refreshTokens(old: StoredTokens): Promise<StoredTokens | null> {
  if (!old.refresh_token) return null;
  const provider = await connect(old.issuer, old.client_id);
  try {
    const tokens = await oidc.refreshTokenGrant(provider, old.refresh_token);
    return kept(old.issuer, old.client_id, tokens, old.refresh_token);
  } catch (error) {
    if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant') return null;
    throw error;
  }
}

/** Revokes the tokens at the provider, if it supports revocation. */
export async function revokeTokens(tokens: StoredTokens): Promise<void> {
  const provider = await connect(tokens.issuer, tokens.client_id);
  if (!provider.serverMetadata().revocation_endpoint) return;
  await oidc.tokenRevocation(provider, tokens.refresh_token ?? tokens.access_token);
}

async function connect(issuer: string, clientId: string): Promise<oidc.Configuration> {
  const { protocol, hostname } = new URL(issuer);
  const here = protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  return await oidc.discovery(new URL(issuer), clientId, undefined, oidc.None(), {
    timeout: 15,
    ...(here ? { execute: [oidc.allowInsecureRequests] } : {}),
  });
}

function kept(
  issuer: string,
  clientId: string,
  tokens: oidc.TokenEndpointResponse,
  former: string | null,
): StoredTokens {
  return {
    issuer,
    client_id: clientId,
    access_token: tokens.access_token,
    refresh_token: tokens.refresh_token ?? former,
    expires_at: new Date(Date.now() + (tokens.expires_in ?? 300) * 1000).toISOString(),
  };
}
