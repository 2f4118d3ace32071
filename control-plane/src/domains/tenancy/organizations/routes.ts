import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../../platform/auth/caller.ts';
import { addTenantToScope, withRole } from '../../../platform/db/scope.ts';
import { requireIfMatch } from '../../../platform/http/etag.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import { leaveOrganization } from '../members/leave-organization.ts';
import type { ClosingHook, ResourceOwner } from '../owned-resources.ts';
import { requireUser } from '../require-user.ts';
import { createOrganization } from './create-organization.ts';
import { deleteOrganization } from './delete-organization.ts';
import { describeOrganization, findOrganization } from './find-organization.ts';
import { listHandovers } from './list-handovers.ts';
import { listOrganizations } from './list-organizations.ts';
import { listTenants } from './list-tenants.ts';

type OrganizationOperations = Pick<
  operations,
  | 'listOrganizations'
  | 'createOrganization'
  | 'getOrganization'
  | 'updateOrganization'
  | 'deleteOrganization'
  | 'leaveOrganization'
  | 'listHandovers'
  | 'listTenants'
>;

const target = (organizationId: string, known = true) => ({
  targetType: 'organization',
  targetId: organizationId,
  ...(known ? { organizationId } : {}),
});

export function organizationRoutes(
  owners: readonly ResourceOwner[],
  atClosing: readonly ClosingHook[],
): Handlers<OrganizationOperations, Caller> {
  return {
    async listOrganizations({ query, read }) {
      return { status: 200, body: await read((tx) => listOrganizations(tx, query)) };
    },
    async listTenants({ caller, query, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      return { status: 200, body: await read((tx) => listTenants(tx, query)) };
    },
    createOrganization({ caller, body, audit, mutate }) {
      audit({ targetType: 'user', targetId: caller.id });
      return mutate(async (tx) => {
        const ownerId = requireUser(caller);
        const { organizationId } = await withRole(tx, 'gpuaas_auth', () =>
          createOrganization(tx, { name: body.name, ownerId }),
        );
        await addTenantToScope(tx, organizationId);
        audit({ ...target(organizationId), detail: { name: body.name } });
        const row = await tx
          .selectFrom('organizations')
          .select(['id', 'name', 'created_at'])
          .where('id', '=', organizationId)
          .executeTakeFirstOrThrow();
        return {
          status: 201,
          body: describeOrganization(row),
          location: `/api/v1/organizations/${organizationId}`,
        };
      });
    },
    async getOrganization({ caller, params, read }) {
      const row = await read((tx) =>
        findOrganization(tx, caller, 'organization.read', params.organization_id, { anywhere: true }),
      );
      return { status: 200, body: describeOrganization(row) };
    },
    updateOrganization({ caller, params, body, request, audit, mutate }) {
      audit(target(params.organization_id, false));
      return mutate(async (tx) => {
        const row = await findOrganization(tx, caller, 'organization.manage', params.organization_id, {
          lock: true,
        });
        audit({ ...target(row.id), detail: { before: row.name, after: body.name } });
        requireIfMatch(request, describeOrganization(row));
        await tx.updateTable('organizations').set({ name: body.name }).where('id', '=', row.id).execute();
        return { status: 200, body: describeOrganization({ ...row, name: body.name }) };
      });
    },
    deleteOrganization({ caller, params, request, audit, mutate }) {
      audit(target(params.organization_id, false));
      return mutate(async (tx) => {
        const row = await findOrganization(tx, caller, 'organization.manage', params.organization_id, {
          lock: true,
        });
        audit({ ...target(row.id), detail: { name: row.name } });
        requireIfMatch(request, describeOrganization(row));
        await deleteOrganization(tx, owners, atClosing, row.id);
        return { status: 204, body: undefined };
      });
    },
    leaveOrganization({ caller, params, audit, mutate }) {
      audit(target(params.organization_id, false));
      return mutate(async (tx) => {
        const memberId = await leaveOrganization(tx, owners, requireUser(caller), params.organization_id);
        audit({ ...target(params.organization_id), detail: { member_id: memberId } });
        return { status: 204, body: undefined };
      });
    },
    listHandovers({ caller, params, query, read }) {
      return read(async (tx) => {
        await findOrganization(tx, caller, 'member.read', params.organization_id);
        return {
          status: 200,
          body: await listHandovers(tx, params.organization_id, query),
        };
      });
    },
  };
}
