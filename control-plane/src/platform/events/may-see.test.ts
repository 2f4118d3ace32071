import { eventPermission, tenantEventTypes } from '@gpuaas/contracts/events';
import { eventTypes } from '@gpuaas/contracts/generated/events.ts';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { describe, expect, it } from 'vitest';
import type { Binding } from '../auth/caller.ts';
import type { LoggedEvent } from './event-log.ts';
import { maySee } from './may-see.ts';

const TENANT = 'tenant-1';
const PROJECT = 'project-1';
const PERSON = 'person-1';

function event(type: string, payload: object, organizationId: string | null = TENANT): LoggedEvent {
  return { organizationId, envelope: { event_type: type, payload } } as unknown as LoggedEvent;
}

function holding(
  permission: Permission,
  organizationId: string | null,
  projectId: string | null = null,
): Binding[] {
  const scope = projectId ? 'project' : organizationId ? 'tenant' : 'platform';
  return [{ group: 'test', permissions: [permission], scope, organizationId, projectId }];
}

const caller = { userId: PERSON };

describe('an event is visible', () => {
  it.each(tenantEventTypes)('%s: with the permission of its type, at the scope of the event', (type) => {
    const { project, tenant } = eventPermission(type);
    const inProject = event(type, { project_id: PROJECT });
    const ofTenant = event(type, { project_id: null });
    const nothing = holding('organization.read', TENANT);
    expect(maySee(caller, nothing, inProject) || maySee(caller, nothing, ofTenant)).toBe(false);
    if (project) {
      expect(maySee(caller, holding(project, TENANT, PROJECT), inProject)).toBe(true);
      expect(maySee(caller, holding(project, TENANT, 'project-2'), inProject)).toBe(false);
    }
    const atTenant = holding(tenant ?? 'billing.read', TENANT);
    expect(maySee(caller, atTenant, ofTenant)).toBe(tenant !== undefined);
    expect(maySee(caller, holding(tenant ?? 'billing.read', 'tenant-2'), ofTenant)).toBe(false);
  });

  it('to people of the projects that an event of the tenant names', () => {
    const low = event('billing.low_balance_warning', {
      project_id: null,
      project_ids: ['project-2', PROJECT],
    });
    const reader = holding('allocation.read', TENANT, PROJECT);
    expect(maySee(caller, reader, low)).toBe(true);
    expect(maySee(caller, reader, event('payments.refunded', { project_ids: [PROJECT] }))).toBe(false);
  });

  it('to its person only, to operators, and to nobody if its type is unknown', () => {
    const everything = holding('fleet.read', null);
    expect(maySee(caller, [], event('notification.created', { user_id: PERSON }))).toBe(true);
    expect(maySee(caller, everything, event('notification.created', { user_id: 'person-2' }))).toBe(false);
    expect(maySee(caller, everything, event('node.changed', {}, null))).toBe(true);
    expect(maySee(caller, [], event('node.changed', {}, null))).toBe(false);
    const ofTenant = event('policy.changed', { project_id: null });
    expect(maySee(caller, everything, ofTenant)).toBe(true);
    expect(maySee(caller, holding('billing.read', TENANT), ofTenant)).toBe(false);
    expect(maySee(caller, everything, event('runs.started', {}, null))).toBe(false);
  });

  it('on the platform to operators only: no event of theirs has a permission of tenants', () => {
    for (const { audience, permission } of Object.values(eventTypes))
      expect(Object.keys(permission).includes('platform')).toBe(audience === 'operator');
  });
});
