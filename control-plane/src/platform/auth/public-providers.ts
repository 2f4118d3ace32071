import { GitHub } from './github.ts';
import { Provider, type ProviderClient } from './provider.ts';
import type { SignInProvider } from './trusted-providers.ts';

export const PUBLIC_PROVIDER_NAMES = ['google', 'github'] as const;
export type PublicProviderName = (typeof PUBLIC_PROVIDER_NAMES)[number];

export const GOOGLE_ISSUER = 'https://accounts.google.com';
export const GITHUB_URL = 'https://github.com';

/** A provider at which anyone may have an account, and where it is reached. */
export interface PublicProviderSettings extends ProviderClient {
  name: PublicProviderName;
  url: string;
}

export type PublicProvider = { name: 'google'; openid: SignInProvider } | { name: 'github'; github: GitHub };

export type PublicProviders = ReadonlyMap<PublicProviderName, PublicProvider>;

/** The configured ones, in the order in which the sign-in page shows them. */
export function openPublicProviders(
  configured: readonly PublicProviderSettings[],
  callbackUrl: string,
): PublicProviders {
  const opened = PUBLIC_PROVIDER_NAMES.flatMap((name) => configured.filter((one) => one.name === name)).map(
    (settings) => open(settings, `${callbackUrl}/public/${settings.name}`),
  );
  return new Map(opened.map((provider) => [provider.name, provider]));
}

function open(
  { name, url, clientId, clientSecret }: PublicProviderSettings,
  redirectUri: string,
): PublicProvider {
  const client = { clientId, clientSecret };
  if (name === 'github') return { name, github: new GitHub({ url, client, redirectUri }) };
  const provider = new Provider({ issuer: url });
  const scopes = 'openid email profile';
  return {
    name,
    openid: { id: null, issuer: url, provider, client, cliClientId: null, redirectUri, scopes },
  };
}
