import { Problem } from '../http/problem.ts';
import { identityFrom, type Identity } from './identity.ts';
import { Provider, type ProviderClient } from './provider.ts';
import type { TenantProviders } from './tenant-providers.ts';

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

export interface SignInProvider {
  /** Null for the platform's own. */
  id: string | null;
  issuer: string;
  provider: Provider;
  client: ProviderClient;
  cliClientId: string | null;
  redirectUri: string;
  scopes: string;
}

/** Who may vouch for people: the platform's provider for anybody, a tenant's for the people of its domains. */
export class TrustedProviders {
  readonly platform: SignInProvider;
  readonly #tenants: TenantProviders;

  constructor(settings: OidcSettings, tenants: TenantProviders) {
    const { clientId, clientSecret, ...rest } = settings;
    const client = { clientId, clientSecret };
    this.platform = { ...rest, id: null, client, provider: new Provider({ issuer: settings.issuer }) };
    this.#tenants = tenants;
  }

  readonly byIssuer = async (issuer: string): Promise<SignInProvider | null> =>
    this.isPlatform(issuer) ? this.platform : await this.#tenants.byIssuer(issuer);

  /** Where somebody with this address signs in. */
  async byEmail(email: string | undefined): Promise<SignInProvider> {
    return (email && (await this.#tenants.byEmail(email))) || this.platform;
  }

  /** The provider that a sign-in was begun with, if it still counts. */
  async byId(id: string | null): Promise<SignInProvider | null> {
    return id === null ? this.platform : await this.#tenants.byId(id);
  }

  isPlatform(issuer: string): boolean {
    return isSameIssuer(issuer, this.platform.issuer);
  }

  /** The person that verified claims describe. A tenant's provider speaks for the addresses of its domains only. */
  async identityOf(
    { issuer, subject }: { issuer: string; subject: string },
    profile: Record<string, unknown>,
  ): Promise<Identity> {
    const described = identityFrom(profile);
    if (this.isPlatform(issuer)) return { issuer, subject, ...described, tenant: null };
    const denied = profile['email_verified'] === false;
    const tenant = denied ? null : await this.#tenants.tenantOf(issuer, described.email);
    if (tenant) return { issuer, subject, ...described, emailVerified: true, tenant };
    throw new Problem(
      'sign_in_denied',
      'The identity provider does not vouch for an address of a domain that its organization has verified.',
    );
  }
}

/** A slash at the end is the one thing in which settings and tokens tend to differ. */
export function isSameIssuer(one: string, other: string): boolean {
  return URL.canParse(one) && URL.parse(one)?.href === URL.parse(other)?.href;
}
