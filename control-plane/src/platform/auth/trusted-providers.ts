import { Provider, type ProviderClient } from './provider.ts';

export interface TrustedProvider {
  provider: Provider;
  client: ProviderClient;
  /** The tenant it belongs to; null for the platform's own. */
  organizationId: string | null;
}

/** What access tokens must be meant for unless another name is configured. */
export const API_AUDIENCE = 'urn:gpuaas:api';

export interface OidcSettings extends ProviderClient {
  issuer: string;
  redirectUri: string;
  /** What access tokens of programs must be meant for. */
  audience: string;
  scopes: string;
  /** The public client that the command line signs in with; null where there is none. */
  cliClientId: string | null;
}

/** Who may vouch for people: the platform's provider. */
export class TrustedProviders {
  readonly platform: TrustedProvider;
  readonly #issuer: string;

  constructor(settings: OidcSettings) {
    this.#issuer = settings.issuer;
    this.platform = { provider: new Provider(settings), client: settings, organizationId: null };
  }

  readonly byIssuer = async (issuer: string): Promise<TrustedProvider | null> =>
    isSameIssuer(issuer, this.#issuer) ? this.platform : null;
}

/** A slash at the end is the one thing in which settings and tokens tend to differ. */
export function isSameIssuer(one: string, other: string): boolean {
  return URL.parse(one)?.href === URL.parse(other)?.href && URL.canParse(one);
}
