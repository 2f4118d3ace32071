import { Problem } from '../http/problem.ts';
import { identityFrom, type Identity, type Tenant } from './identity.ts';
import { Provider, type ProviderClient } from './provider.ts';
import {
  openPublicProviders,
  type PublicProviders,
  type PublicProviderSettings,
} from './public-providers.ts';

/** Audience of access tokens unless another name is configured. */
export const API_AUDIENCE = 'urn:gpuaas:api';

export interface OidcSettings extends ProviderClient {
  issuer: string;
  redirectUri: string;
  /** Audience of access tokens of programs. */
  audience: string;
  scopes: string;
  /** The public client of the command line; null if there is none. */
  cliClientId: string | null;
  /** Providers at which anyone may have an account; none if omitted. */
  publicProviders?: readonly PublicProviderSettings[];
}

export interface SignInProvider {
  /** Null for all but a tenant's. */
  id: string | null;
  issuer: string;
  provider: Provider;
  client: ProviderClient;
  cliClientId: string | null;
  redirectUri: string;
  scopes: string;
}

/** Identity providers of tenants, which a domain keeps. */
export interface ProvidersOfTenants {
  byIssuer(issuer: string): Promise<SignInProvider | null>;
  byId(id: string): Promise<SignInProvider | null>;
  byEmail(email: string): Promise<SignInProvider | null>;
  /** The tenant of an address that this issuer may confirm; null if it may not. */
  tenantOf(issuer: string, email: string): Promise<Tenant | null>;
}

/** Trusted identity providers: the platform's and public ones for everyone, a tenant's for people of its domains. */
export class TrustedProviders {
  readonly platform: SignInProvider;
  /** Browsers may sign in there; programs cannot bring tokens from there. */
  readonly public: PublicProviders;
  readonly #tenants: ProvidersOfTenants;

  constructor(settings: OidcSettings, tenants: ProvidersOfTenants) {
    const { clientId, clientSecret, publicProviders = [], ...rest } = settings;
    const client = { clientId, clientSecret };
    this.platform = { ...rest, id: null, client, provider: new Provider({ issuer: settings.issuer }) };
    this.public = openPublicProviders(publicProviders, settings.redirectUri);
    this.#tenants = tenants;
  }

  readonly byIssuer = async (issuer: string): Promise<SignInProvider | null> =>
    this.isPlatform(issuer) ? this.platform : await this.#tenants.byIssuer(issuer);

  /** The provider at which a person with this address signs in. */
  async byEmail(email: string | undefined): Promise<SignInProvider> {
    return (email && (await this.#tenants.byEmail(email))) || this.platform;
  }

  /** The provider at which a sign-in started, if it is still trusted. */
  async byId(id: string | null): Promise<SignInProvider | null> {
    return id === null ? this.platform : await this.#tenants.byId(id);
  }

  isPlatform(issuer: string): boolean {
    return isSameIssuer(issuer, this.platform.issuer);
  }

  /** The person in verified claims. A tenant's provider may only confirm addresses of its domains. */
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

/** Settings and tokens often differ in a slash at the end. */
export function isSameIssuer(one: string, other: string): boolean {
  return URL.canParse(one) && URL.parse(one)?.href === URL.parse(other)?.href;
}
