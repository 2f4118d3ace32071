import type { Db } from '../../platform/db/database.ts';
import type { Sealer } from '../../platform/keys/seal.ts';
import { checkedFetch } from '../../platform/outbound/checked-fetch.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { Tenant } from '../../platform/auth/identity.ts';
import { Provider } from '../../platform/auth/provider.ts';
import type { ProvidersOfTenants, SignInProvider } from '../../platform/auth/trusted-providers.ts';

/** Ties a sealed client secret to its provider. */
export function clientSecretContext(identityProviderId: string): string {
  return `identity_provider:${identityProviderId}`;
}

function emailDomain(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase();
}

const MAX_KEPT = 500;

/** Identity providers of tenants. Only enabled ones with a verified domain count. */
export class TenantProviders implements ProvidersOfTenants {
  readonly #db: Db;
  readonly #sealer: Sealer;
  readonly #policies: Policies;
  readonly #redirectUri: string;
  readonly #kept = new Map<string, Provider>();

  constructor(options: { db: Db; sealer: Sealer; policies: Policies; redirectUri: string }) {
    this.#db = options.db;
    this.#sealer = options.sealer;
    this.#policies = options.policies;
    this.#redirectUri = options.redirectUri;
  }

  async byIssuer(issuer: string): Promise<SignInProvider | null> {
    const row = await this.#trusted().where('p.issuer', '=', issuer).executeTakeFirst();
    return row ? this.#open(row) : null;
  }

  async byId(id: string): Promise<SignInProvider | null> {
    const row = await this.#trusted().where('p.id', '=', id).executeTakeFirst();
    return row ? this.#open(row) : null;
  }

  async byEmail(email: string): Promise<SignInProvider | null> {
    const row = await this.#trusted().where('d.domain', '=', emailDomain(email)).executeTakeFirst();
    return row ? this.#open(row) : null;
  }

  /** The tenant of an address that this issuer may confirm; null if it may not. */
  async tenantOf(issuer: string, email: string): Promise<Tenant | null> {
    const row = await this.#trusted()
      .where('p.issuer', '=', issuer)
      .where('d.domain', '=', emailDomain(email))
      .executeTakeFirst();
    return row ? { organizationId: row.organization_id, newcomersProjectId: row.newcomers_project_id } : null;
  }

  #trusted() {
    return this.#db
      .selectFrom('identity_providers as p')
      .innerJoin('identity_provider_domains as d', 'd.identity_provider_id', 'p.id')
      .selectAll('p')
      .where('p.enabled', '=', true)
      .where('d.verified_at', 'is not', null)
      .orderBy('p.id')
      .limit(1);
  }

  #open(row: {
    id: string;
    organization_id: string;
    issuer: string;
    client_id: string;
    sealed_client_secret: Buffer;
    cli_client_id: string | null;
  }): SignInProvider {
    const clientSecret = this.#sealer.open(
      'client_secret',
      row.sealed_client_secret,
      clientSecretContext(row.id),
    );
    return {
      id: row.id,
      issuer: row.issuer,
      provider: this.#connection(row.issuer, row.organization_id),
      client: { clientId: row.client_id, clientSecret },
      cliClientId: row.cli_client_id,
      redirectUri: `${this.#redirectUri}/${row.id}`,
      scopes: 'openid email profile',
    };
  }

  /** Cached by tenant and issuer, so that no tenant learns what another one can reach. */
  #connection(issuer: string, organizationId: string): Provider {
    const name = `${organizationId} ${issuer}`;
    const known = this.#kept.get(name);
    if (known) return known;
    const fetch = checkedFetch(() => ({
      allowPrivateTargets: this.#policies.get('auth.allow_private_issuers', { organizationId }),
    }));
    const provider = new Provider({ issuer, fetch });
    if (this.#kept.size >= MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
    this.#kept.set(name, provider);
    return provider;
  }
}
