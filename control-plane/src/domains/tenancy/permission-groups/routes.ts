import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import { requireIfMatch } from '../../../platform/http/etag.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import { createGroup } from './create-group.ts';
import { deleteGroup } from './delete-group.ts';
import { describeGroup, type PermissionGroupRow } from './describe-group.ts';
import { findGroup } from './find-group.ts';
import { listGroups } from './list-groups.ts';
import { updateGroup } from './update-group.ts';

type GroupOperations = Pick<
  operations,
  | 'listPermissionGroups'
  | 'createPermissionGroup'
  | 'getPermissionGroup'
  | 'updatePermissionGroup'
  | 'deletePermissionGroup'
>;

const target = (row: PermissionGroupRow) => ({
  targetType: 'permission_group',
  targetId: row.id,
  organizationId: row.organization_id,
  detail: { name: row.name, permissions: row.permissions },
});

export function permissionGroupRoutes(): Handlers<GroupOperations, Caller> {
  return {
    listPermissionGroups({ caller, query, read }) {
      return read(async (tx) => {
        await findOrganization(tx, caller, 'access.read', query.organization_id, { anywhere: true });
        return { status: 200, body: await listGroups(tx, query) };
      });
    },
    createPermissionGroup({ caller, body, audit, mutate }) {
      audit({ targetType: 'organization', targetId: body.organization_id });
      return mutate(async (tx) => {
        const row = await createGroup(tx, caller, body);
        audit(target(row));
        return {
          status: 201,
          body: describeGroup(row),
          location: `/api/v1/permission-groups/${row.id}`,
        };
      });
    },
    async getPermissionGroup({ caller, params, read }) {
      const row = await read((tx) => findGroup(tx, caller, 'access.read', params.permission_group_id));
      return { status: 200, body: describeGroup(row) };
    },
    updatePermissionGroup({ caller, params, body, request, audit, mutate }) {
      audit({ targetType: 'permission_group', targetId: params.permission_group_id });
      return mutate(async (tx) => {
        const row = await findGroup(tx, caller, 'access.manage', params.permission_group_id, { lock: true });
        requireIfMatch(request, describeGroup(row));
        const changed = await updateGroup(tx, caller, row, body);
        audit({
          ...target(changed),
          detail: { before: row.permissions, after: changed.permissions, name: changed.name },
        });
        return { status: 200, body: describeGroup(changed) };
      });
    },
    deletePermissionGroup({ caller, params, request, audit, mutate }) {
      audit({ targetType: 'permission_group', targetId: params.permission_group_id });
      return mutate(async (tx) => {
        const row = await findGroup(tx, caller, 'access.manage', params.permission_group_id, { lock: true });
        audit(target(row));
        requireIfMatch(request, describeGroup(row));
        await deleteGroup(tx, caller, row);
        return { status: 204, body: undefined };
      });
    },
  };
}
