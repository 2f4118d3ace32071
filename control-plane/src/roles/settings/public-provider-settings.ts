import { isLoopbackHttp } from '../../platform/auth/provider.ts';
import {
  GITHUB_URL,
  GOOGLE_ISSUER,
  type PublicProviderName,
  type PublicProviderSettings,
} from '../../platform/auth/public-providers.ts';
import { SETTINGS, type Setting } from '../settings.ts';

/** What is wrong with the settings of Google or GitHub, in words. */
export class PublicProviderSettingsError extends Error {}

const SOURCES = [
  {
    name: 'google',
    id: 'google-client-id',
    secret: 'google-client-secret',
    at: 'google-issuer',
    url: GOOGLE_ISSUER,
  },
  {
    name: 'github',
    id: 'github-client-id',
    secret: 'github-client-secret',
    at: 'github-url',
    url: GITHUB_URL,
  },
] as const satisfies { name: PublicProviderName; id: Setting; secret: Setting; at: Setting; url: string }[];

/** Public providers stand beside the platform's own, where operators and the command line sign in. */
export function readPublicProviders(
  setting: (name: Setting) => string | undefined,
  hasOwnProvider: boolean,
): PublicProviderSettings[] {
  return SOURCES.flatMap(({ name, id, secret, at, url: otherwise }) => {
    const clientId = setting(id);
    if (clientId === undefined) return [];
    if (!hasOwnProvider)
      refuse(`${SETTINGS[id].env} needs GPUAAS_OIDC_ISSUER, a provider of your own beside it`);
    const clientSecret = setting(secret);
    if (clientSecret === undefined)
      refuse(`${SETTINGS[secret].env} must be set together with ${SETTINGS[id].env}`);
    const url = setting(at) ?? otherwise;
    if (!URL.canParse(url) || !(url.startsWith('https://') || isLoopbackHttp(url)))
      refuse(`${SETTINGS[at].env} must be an https URL; plain http only on this machine`);
    return [{ name, clientId, clientSecret, url }];
  });
}

function refuse(reason: string): never {
  throw new PublicProviderSettingsError(reason);
}
