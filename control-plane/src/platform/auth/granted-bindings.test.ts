import { expect, test } from 'vitest';
import { permissionGroups, tenantPermissions } from '@gpuaas/contracts/generated/permissions.ts';
import { authorize, authorizeAnywhere, permissionsAt, type Binding, type Caller } from './caller.ts';
import { grantedBindings } from './granted-bindings.ts';
import { kindOfSecret, newSecret } from './secrets.ts';

const at = (scope: 'tenant' | 'project', group: string, permissions: string[] | null = null) => ({
  group,
  permissions,
  scope,
  organizationId: 'o',
  projectId: scope === 'project' ? 'p' : null,
});
const caller = (bindings: Binding[], organizationIds = ['o']) =>
  ({ bindings, organizationIds, authorised: false }) as unknown as Caller;

test('a tenant admin holds every permission of the tenant side and none of the platform', () => {
  const held = permissionsAt(grantedBindings([at('tenant', 'tenant_admin')], null), {
    kind: 'project',
    organizationId: 'o',
    projectId: 'any',
  });
  expect([...held].toSorted()).toEqual(Object.keys(tenantPermissions).toSorted());
});

test('rights at a project hold there, not at its tenant or its neighbours', () => {
  const bindings = grantedBindings([at('project', 'project_admin')], null);
  const project = { kind: 'project', organizationId: 'o', projectId: 'p' } as const;
  expect(permissionsAt(bindings, project)).toContain('webhook.manage');
  expect(permissionsAt(bindings, { ...project, projectId: 'q' }).size).toBe(0);
  expect(permissionsAt(bindings, { kind: 'tenant', organizationId: 'o' }).size).toBe(0);
  expect(() => authorizeAnywhere(caller(bindings), 'member.read', 'o')).not.toThrow();
  expect(() => authorizeAnywhere(caller(bindings), 'member.manage', 'o')).toThrow(/member.manage/);
});

test('scopes narrow a credential and never widen it; unknown names grant nothing', () => {
  const [narrow] = grantedBindings([at('project', 'regular_user')], ['allocation.read', 'webhook.manage']);
  expect(narrow!.permissions).toEqual(['allocation.read']);
  const [own] = grantedBindings([at('tenant', 'Own', ['allocation.read', 'gone.long_ago'])], null);
  expect(own!.permissions).toEqual(['allocation.read']);
  expect(grantedBindings([at('tenant', 'constructor')], null)[0]!.permissions).toEqual([]);
});

test('a caller outside the tenant gets the answer of a missing resource, a member gets the missing permission', () => {
  const scope = { kind: 'tenant', organizationId: 'o' } as const;
  expect(() => authorize(caller([], []), 'member.read', scope)).toThrow(
    expect.objectContaining({ code: 'not_found' }),
  );
  expect(() => authorize(caller([]), 'member.read', scope)).toThrow(
    expect.objectContaining({ code: 'forbidden' }),
  );
});

test('a group grants only permissions of its side', () => {
  for (const [name, group] of Object.entries(permissionGroups)) {
    const tenantSide = group.permissions.filter((permission) => permission in tenantPermissions);
    expect(tenantSide.length, name).toBe(group.scope === 'platform' ? 0 : group.permissions.length);
  }
});

test('a mistyped secret is recognised without a lookup', () => {
  const key = newSecret('api_key');
  expect(kindOfSecret(key)).toBe('api_key');
  expect(kindOfSecret(newSecret('service_account_token'))).toBe('service_account_token');
  expect(kindOfSecret(`${key.slice(0, 10)}${key[10] === 'x' ? 'y' : 'x'}${key.slice(11)}`)).toBeNull();
  expect(kindOfSecret(key.replace('gpk', 'gpx'))).toBeNull();
});
