import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { authorize, type Caller } from '../../platform/auth/caller.ts';
import { clientSecretContext } from './tenant-providers.ts';
import { isDatabaseError, type Tx } from '../../platform/db/database.ts';
import { notFound, Problem } from '../../platform/http/problem.ts';
import { newId } from '../../platform/ids.ts';
import { checkUrl, TargetRefusedError } from '../../platform/outbound/target.ts';
import type { Services } from '../../platform/services.ts';
import { PROVIDER_COLUMNS, type IdentityProviderRow } from './find-identity-provider.ts';

const UNIQUE_VIOLATION = '23505';

export async function registerIdentityProvider(
  { sealer, policies }: Services,
  tx: Tx,
  caller: Caller,
  body: components['schemas']['CreateIdentityProvider'],
  isPlatformIssuer: (issuer: string) => boolean,
): Promise<IdentityProviderRow> {
  const organizationId = body.organization_id;
  authorize(caller, 'identity_provider.manage', { kind: 'tenant', organizationId });
  refuseIssuer(body.issuer, isPlatformIssuer, {
    allowPrivateTargets: policies.get('auth.allow_private_issuers', { organizationId }),
  });
  await requireProject(tx, organizationId, body.newcomers_project_id);
  const id = newId();
  try {
    return await tx
      .insertInto('identity_providers')
      .values({
        id,
        organization_id: organizationId,
        name: body.name,
        issuer: body.issuer,
        client_id: body.client_id,
        sealed_client_secret: sealer.seal('client_secret', body.client_secret, clientSecretContext(id)),
        cli_client_id: body.cli_client_id ?? null,
        newcomers_project_id: body.newcomers_project_id ?? null,
        created_by: caller.id,
      })
      .returning(PROVIDER_COLUMNS)
      .executeTakeFirstOrThrow();
  } catch (error) {
    if (!isDatabaseError(error, UNIQUE_VIOLATION)) throw error;
    throw new Problem('identity_provider_exists', 'The organization has a provider with this issuer.');
  }
}

function refuseIssuer(
  issuer: string,
  isPlatformIssuer: (issuer: string) => boolean,
  rules: { allowPrivateTargets: boolean },
): void {
  const refuse = (detail: string): Problem =>
    new Problem('issuer_refused', `The issuer cannot be used: ${detail}.`, {
      errors: [{ pointer: '/issuer', detail }],
    });
  // The platform's own provider identifies people of all tenants; a tenant must not control it.
  if (isPlatformIssuer(issuer)) throw refuse('it is the provider of the platform');
  try {
    const url = checkUrl(issuer, rules);
    if (url.search) throw new TargetRefusedError('it must not carry a query');
  } catch (error) {
    if (error instanceof TargetRefusedError) throw refuse(error.message);
    throw error;
  }
}

async function requireProject(tx: Tx, organizationId: string, projectId: string | undefined): Promise<void> {
  if (projectId === undefined) return;
  const project = await tx
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  if (!project) throw notFound();
}
