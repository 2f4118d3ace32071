import type { Scope } from '../../platform/auth/caller.ts';

/** Scope of a tenant's object: a project, or the tenant itself. */
export function tenantScope(organizationId: string, projectId: string | null): Scope {
  return projectId === null
    ? { kind: 'tenant', organizationId }
    : { kind: 'project', organizationId, projectId };
}
