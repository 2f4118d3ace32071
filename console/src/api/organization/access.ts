import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { organizationKeys } from '../query-keys.ts';
import type { Holder } from '../types.ts';

export const permissionGroupsQuery = (organizationId: string) =>
  pagedQuery(organizationKeys.groups(organizationId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/permission-groups', {
        params: { query: { organization_id: organizationId, limit: 200, ...page } },
        signal,
      }),
    ),
  );

export const bindingsQuery = (organizationId: string) =>
  pagedQuery(organizationKeys.bindings(organizationId), (page, signal) =>
    unwrap(
      client.GET('/api/v1/permission-bindings', {
        params: { query: { organization_id: organizationId, ...page } },
        signal,
      }),
    ),
  );

export interface NewPermissionGroup {
  organization_id: string;
  name: string;
  description?: string;
  permissions: string[];
}

export function createPermissionGroup(body: NewPermissionGroup) {
  return unwrap(client.POST('/api/v1/permission-groups', { body }));
}

export function deletePermissionGroup(id: string) {
  return unwrap(
    client.DELETE('/api/v1/permission-groups/{permission_group_id}', {
      params: { path: { permission_group_id: id } },
    }),
  );
}

export interface NewBinding {
  organization_id: string;
  project_id?: string;
  permission_group: string;
  holder: Holder;
}

export function createBinding(body: NewBinding) {
  return unwrap(client.POST('/api/v1/permission-bindings', { body }));
}

export function deleteBinding(id: string) {
  return unwrap(
    client.DELETE('/api/v1/permission-bindings/{permission_binding_id}', {
      params: { path: { permission_binding_id: id } },
    }),
  );
}
