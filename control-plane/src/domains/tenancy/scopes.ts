import type { Scope } from '../../platform/auth/caller.ts';

/** Where something of a tenant stands: at a project, or at the tenant itself. */
export function scopeAt(organizationId: string, projectId: string | null): Scope {
  return projectId === null
    ? { kind: 'tenant', organizationId }
    : { kind: 'project', organizationId, projectId };
}
