import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { tenantScope } from '../scopes.ts';
import { createBinding } from './create-binding.ts';
import { deleteBinding } from './delete-binding.ts';
import { describeBinding, type BindingRow } from './describe-binding.ts';
import { findBinding } from './find-binding.ts';
import { listBindings } from './list-bindings.ts';

type BindingOperations = Pick<
  operations,
  'listPermissionBindings' | 'createPermissionBinding' | 'getPermissionBinding' | 'deletePermissionBinding'
>;

function target(row: BindingRow) {
  const { permission_group, holder, project_id } = describeBinding(row);
  return {
    targetType: 'permission_binding',
    targetId: row.id,
    organizationId: row.organization_id,
    detail: { permission_group, holder, project_id },
  };
}

export function permissionBindingRoutes(): Handlers<BindingOperations, Caller> {
  return {
    listPermissionBindings({ caller, query, read }) {
      return read(async (tx) => {
        const { organization_id: organizationId, project_id: projectId = null } = query;
        if (!caller.organizationIds.includes(organizationId)) throw notFound();
        authorize(caller, 'access.read', tenantScope(organizationId, projectId));
        return { status: 200, body: await listBindings(tx, query) };
      });
    },
    createPermissionBinding({ caller, body, audit, mutate }) {
      audit({
        targetType: 'organization',
        targetId: body.organization_id,
        detail: { permission_group: body.permission_group, holder: body.holder },
      });
      return mutate(async (tx) => {
        const id = await createBinding(tx, caller, body);
        const row = await findBinding(tx, caller, 'access.manage', id);
        audit(target(row));
        return {
          status: 201,
          body: describeBinding(row),
          location: `/api/v1/permission-bindings/${id}`,
        };
      });
    },
    async getPermissionBinding({ caller, params, read }) {
      const row = await read((tx) => findBinding(tx, caller, 'access.read', params.permission_binding_id));
      return { status: 200, body: describeBinding(row) };
    },
    deletePermissionBinding({ caller, params, audit, mutate }) {
      audit({ targetType: 'permission_binding', targetId: params.permission_binding_id });
      return mutate(async (tx) => {
        audit(target(await deleteBinding(tx, caller, params.permission_binding_id)));
        return { status: 204, body: undefined };
      });
    },
  };
}
