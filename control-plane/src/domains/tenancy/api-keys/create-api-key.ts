import { permissions } from '@gpuaas/contracts/generated/permissions.ts';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import {
  atPlatform,
  permissionsAnywhere,
  permissionsAt,
  type Caller,
} from '../../../platform/auth/caller.ts';
import { hashSecret, newSecret, secretPrefix } from '../../../platform/auth/secrets.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { requireUser } from '../require-user.ts';
import { API_KEY_COLUMNS, type ApiKeyRow } from './find-api-key.ts';

type CreateApiKey = components['schemas']['CreateApiKey'];

/** Creates a key with the caller's rights in one tenant or on the platform. Only its hash is stored. */
export async function createApiKey(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  caller: Caller,
  body: CreateApiKey,
): Promise<{ row: ApiKeyRow; secret: string }> {
  const userId = requireUser(caller);
  const organizationId = body.organization_id ?? null;
  if (organizationId !== null && !caller.organizationIds.includes(organizationId)) throw notFound();
  if (organizationId === null) requirePlatformRights(caller);
  if (body.scopes) requireHeld(caller, organizationId, body.scopes);
  const now = clock.now();
  const longest = policies.get(
    'auth.api_key_max_lifetime_seconds',
    organizationId === null ? {} : { organizationId },
  );
  const secret = newSecret('api_key');
  const row = await tx
    .insertInto('api_keys')
    .values({
      id: newId(),
      user_id: userId,
      organization_id: organizationId,
      name: body.name,
      prefix: secretPrefix(secret),
      secret_hash: hashSecret(secret),
      scopes: body.scopes ?? null,
      expires_at: expiry(body.expires_at, now, longest),
    })
    .returning(API_KEY_COLUMNS)
    .executeTakeFirstOrThrow();
  return { row, secret };
}

/** A key without a tenant is a platform key; a tenant's key must not create one. */
function requirePlatformRights(caller: Caller): void {
  if (caller.bindings.some((binding) => binding.scope === 'platform')) return;
  throw new Problem(
    'api_key_organization_required',
    'Name the organization of the key; you hold no rights on the platform.',
  );
}

function requireHeld(caller: Caller, organizationId: string | null, scopes: readonly string[]): void {
  const unknown = scopes
    .map((scope, index) => ({ scope, pointer: `/scopes/${index}` }))
    .filter(({ scope }) => !Object.hasOwn(permissions, scope))
    .map(({ scope, pointer }) => ({ pointer, detail: `${scope} is not a permission` }));
  if (unknown.length > 0) {
    throw new Problem('permission_unknown', 'Some scopes are not permissions.', { errors: unknown });
  }
  const held: ReadonlySet<string> =
    organizationId === null
      ? permissionsAt(caller.bindings, atPlatform)
      : permissionsAnywhere(caller.bindings, organizationId);
  const missing = scopes.filter((scope) => !held.has(scope));
  if (missing.length === 0) return;
  throw new Problem('exceeds_own_rights', `You do not hold ${missing.join(', ')} yourself.`, {
    extensions: { missing_permissions: missing },
  });
}

function expiry(asked: string | undefined, now: Date, longestSeconds: number): Date {
  const latest = new Date(now.getTime() + longestSeconds * 1000);
  if (asked === undefined) return latest;
  const end = new Date(asked);
  if (end > now && end <= latest) return end;
  throw new Problem(
    'api_key_lifetime_refused',
    'The key must end in the future and before the longest allowed time.',
    {
      errors: [{ pointer: '/expires_at', detail: `must be after now and not after ${latest.toISOString()}` }],
      extensions: { latest_expires_at: latest.toISOString() },
    },
  );
}
