import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import { type Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import type { Services } from '../../../platform/services.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import { requireUser } from '../require-user.ts';
import { createApiKey } from './create-api-key.ts';
import { describeApiKey, findApiKey, type ApiKeyRow } from './find-api-key.ts';
import { listApiKeys } from './list-api-keys.ts';

type ApiKeyOperations = Pick<operations, 'listApiKeys' | 'createApiKey' | 'getApiKey' | 'revokeApiKey'>;

const target = (row: ApiKeyRow) => ({
  targetType: 'api_key',
  targetId: row.id,
  organizationId: row.organization_id,
  detail: { name: row.name, user_id: row.user_id, scopes: row.scopes },
});

export function apiKeyRoutes(services: Services): Handlers<ApiKeyOperations, Caller> {
  const { clock } = services;
  return {
    listApiKeys({ caller, query, read }) {
      const { organization_id: organizationId } = query;
      return read(async (tx) => {
        if (organizationId !== undefined) await findOrganization(tx, caller, 'api_key.read', organizationId);
        const of = organizationId === undefined ? { userId: requireUser(caller) } : { organizationId };
        return { status: 200, body: await listApiKeys(tx, clock.now(), of, query) };
      });
    },
    createApiKey({ caller, body, audit, mutate }) {
      audit({ targetType: 'user', targetId: caller.id });
      return mutate(async (tx) => {
        const { row, secret } = await createApiKey(services, tx, caller, body);
        audit(target(row));
        return {
          status: 201,
          ...withSecret(describeApiKey(row, clock.now()), secret),
          location: `/api/v1/api-keys/${row.id}`,
        };
      });
    },
    async getApiKey({ caller, params, read }) {
      const row = await read((tx) => findApiKey(tx, caller, 'api_key.read', params.api_key_id));
      return { status: 200, body: describeApiKey(row, clock.now()) };
    },
    revokeApiKey({ caller, params, audit, mutate }) {
      audit({ targetType: 'api_key', targetId: params.api_key_id });
      return mutate(async (tx) => {
        const row = await findApiKey(tx, caller, 'api_key.manage', params.api_key_id);
        audit(target(row));
        await tx
          .updateTable('api_keys')
          .set({ revoked_at: clock.now() })
          .where('id', '=', row.id)
          .where('revoked_at', 'is', null)
          .execute();
        return { status: 204, body: undefined };
      });
    },
  };
}

/** The caller gets the key once; the reply stored for a replay does not contain it. */
function withSecret(key: components['schemas']['ApiKey'], secret: string) {
  return {
    body: { api_key: key, secret },
    replayBody: { api_key: key, secret: null, secret_already_shown: true },
  };
}
