import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { requireIfMatch } from '../../platform/http/etag.ts';
import type { AuditTarget, Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { claimDomain, findDomain, releaseDomain, verifyDomain } from './claim-domain.ts';
import { describeDomain, describeIdentityProvider } from './describe-identity-provider.ts';
import { findIdentityProvider, type IdentityProviderRow } from './find-identity-provider.ts';
import { listDomains, listIdentityProviders } from './list-identity-providers.ts';
import type { VerifyDomainRecord } from './verify-domain.ts';
import { registerIdentityProvider } from './register-identity-provider.ts';
import { deleteIdentityProvider, updateIdentityProvider } from './update-identity-provider.ts';

type IdentityProviderOperations = Pick<
  operations,
  | 'listIdentityProviders'
  | 'createIdentityProvider'
  | 'getIdentityProvider'
  | 'updateIdentityProvider'
  | 'deleteIdentityProvider'
  | 'listIdentityProviderDomains'
  | 'addIdentityProviderDomain'
  | 'verifyIdentityProviderDomain'
  | 'deleteIdentityProviderDomain'
>;

export interface IdentityProviderOptions {
  redirectUri: string;
  isPlatformIssuer(issuer: string): boolean;
  proveDomain: VerifyDomainRecord;
}

export function identityProviderRoutes(
  services: Services,
  { redirectUri, isPlatformIssuer, proveDomain }: IdentityProviderOptions,
): Handlers<IdentityProviderOperations, Caller> {
  const { clock, sealer } = services;
  const describe = (row: IdentityProviderRow) => describeIdentityProvider(row, redirectUri);
  /** Finds a provider to change and names it in the audit log. */
  const change = async (
    tx: Tx,
    context: { caller: Caller; params: { identity_provider_id: string }; audit(target: AuditTarget): void },
    detail?: Record<string, unknown>,
  ): Promise<IdentityProviderRow> => {
    const id = context.params.identity_provider_id;
    context.audit({ targetType: 'identity_provider', targetId: id });
    const row = await findIdentityProvider(tx, context.caller, 'identity_provider.manage', id);
    context.audit({
      targetType: 'identity_provider',
      targetId: id,
      organizationId: row.organization_id,
      ...(detail ? { detail } : {}),
    });
    return row;
  };
  return {
    listIdentityProviders({ caller, query, read }) {
      return read(async (tx) => {
        const organizationId = query.organization_id;
        authorize(caller, 'identity_provider.read', { kind: 'tenant', organizationId });
        const page = await listIdentityProviders(tx, organizationId, query);
        return { status: 200, body: { items: page.rows.map(describe), next_page: page.next_page } };
      });
    },
    createIdentityProvider({ caller, body, audit, mutate }) {
      audit({ targetType: 'organization', targetId: body.organization_id });
      return mutate(async (tx) => {
        const row = await registerIdentityProvider(services, tx, caller, body, isPlatformIssuer);
        audit({
          targetType: 'identity_provider',
          targetId: row.id,
          organizationId: row.organization_id,
          detail: { issuer: row.issuer },
        });
        return { status: 201, body: describe(row), location: `/api/v1/identity-providers/${row.id}` };
      });
    },
    async getIdentityProvider({ caller, params, read }) {
      const row = await read((tx) =>
        findIdentityProvider(tx, caller, 'identity_provider.read', params.identity_provider_id),
      );
      return { status: 200, body: describe(row) };
    },
    updateIdentityProvider(context) {
      const { client_secret: secret, ...open } = context.body;
      const detail = { ...open, ...(secret ? { changed: 'client secret' } : {}) };
      return context.mutate(async (tx) => {
        const row = await change(tx, context, detail);
        requireIfMatch(context.request, describe(row));
        return { status: 200, body: describe(await updateIdentityProvider(sealer, tx, row, context.body)) };
      });
    },
    deleteIdentityProvider(context) {
      return context.mutate(async (tx) => {
        await deleteIdentityProvider(tx, await change(tx, context));
        return { status: 204, body: undefined };
      });
    },
    listIdentityProviderDomains({ caller, params, query, read }) {
      return read(async (tx) => {
        const id = params.identity_provider_id;
        await findIdentityProvider(tx, caller, 'identity_provider.read', id);
        const page = await listDomains(tx, id, query);
        return { status: 200, body: { items: page.rows.map(describeDomain), next_page: page.next_page } };
      });
    },
    addIdentityProviderDomain(context) {
      const { domain } = context.body;
      return context.mutate(async (tx) => {
        const row = await claimDomain(tx, await change(tx, context, { domain }), domain);
        return { status: 201, body: describeDomain(row) };
      });
    },
    async verifyIdentityProviderDomain(context) {
      const { identity_provider_id: id, domain_id: domainId } = context.params;
      // DNS is queried outside the transaction, and only for callers who may change the provider.
      const claim = await context
        .read(async (tx) => {
          await findIdentityProvider(tx, context.caller, 'identity_provider.manage', id);
          return await findDomain(tx, id, domainId);
        })
        .catch(() => null);
      const proven = claim !== null && (await proveDomain(claim));
      return await context.mutate(async (tx) => {
        await change(tx, context, claim ? { domain: claim.domain } : {});
        const row = await verifyDomain(tx, await findDomain(tx, id, domainId), proven, clock.now());
        return { status: 200, body: describeDomain(row) };
      });
    },
    deleteIdentityProviderDomain(context) {
      const { identity_provider_id: id, domain_id: domainId } = context.params;
      return context.mutate(async (tx) => {
        const provider = await change(tx, context);
        await releaseDomain(tx, provider, await findDomain(tx, id, domainId));
        return { status: 204, body: undefined };
      });
    },
  };
}
