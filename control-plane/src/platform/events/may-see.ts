import { eventPermission, isEventType, personalEventTypes } from '@gpuaas/contracts/events';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { atPlatform, permissionsAt, type Binding, type Scope } from '../auth/caller.ts';
import type { LoggedEvent } from './event-log.ts';

const PERSONAL: ReadonlySet<string> = new Set(personalEventTypes);

/**
 * Whether a person with these rights may see an event, by the permission of its type in the contract. Tenant
 * events need the right in a project or the tenant; operators' events are for operators, also those about a
 * tenant. A type that this release does not know is visible to nobody.
 */
export function maySee(
  { userId }: { userId: string | null },
  bindings: readonly Binding[],
  {
    organizationId,
    envelope: { event_type: type, payload },
  }: Pick<LoggedEvent, 'organizationId' | 'envelope'>,
): boolean {
  if (PERSONAL.has(type)) return userId !== null && payload['user_id'] === userId;
  if (!isEventType(type)) return false;
  const needs = eventPermission(type);
  const may = (permission: Permission | undefined, scope: Scope): boolean =>
    permission !== undefined && permissionsAt(bindings, scope).has(permission);
  if (needs.platform || organizationId === null) return may(needs.platform, atPlatform);
  const { project_id: projectId = null, project_ids: projectIds } = payload;
  const mayInProject = (id: unknown): boolean =>
    typeof id === 'string' && may(needs.project, { kind: 'project', organizationId, projectId: id });
  if (projectId !== null) return mayInProject(projectId);
  return (
    may(needs.tenant, { kind: 'tenant', organizationId }) ||
    (Array.isArray(projectIds) && projectIds.some(mayInProject))
  );
}
