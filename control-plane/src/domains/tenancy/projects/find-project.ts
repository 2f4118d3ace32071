import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Projects } from '../../../platform/db/generated/schema.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { projectResourceName } from '../../../platform/ids.ts';

export type ProjectRow = Pick<
  Selectable<Projects>,
  'id' | 'organization_id' | 'team_id' | 'name' | 'created_at'
>;

export const PROJECT_COLUMNS = ['id', 'organization_id', 'team_id', 'name', 'created_at'] as const;

/**
 * A project in which the caller holds the permission; any other one is answered like a missing one. With
 * `staysOpen` it cannot be closed before the transaction ends: required to add a resource to it.
 */
export async function findProject(
  tx: Tx,
  caller: Caller,
  permission: Permission,
  projectId: string,
  options: { lock?: boolean; staysOpen?: boolean } = {},
): Promise<ProjectRow> {
  const row = await tx
    .selectFrom('projects')
    .select(PROJECT_COLUMNS)
    .where('id', '=', projectId)
    .$if(options.lock ?? false, (q) => q.forUpdate())
    .$if(options.staysOpen ?? false, (q) => q.forKeyShare())
    .executeTakeFirst();
  return requireProject(caller, permission, row);
}

/**
 * Keeps the caller's projects open until the transaction ends; returns their tenants. Projects that the
 * caller cannot see are omitted.
 */
export async function keepProjectsOpen(tx: Tx, projectIds: readonly string[]): Promise<string[]> {
  const rows = await tx
    .selectFrom('projects')
    .select('organization_id')
    .where('id', 'in', projectIds)
    .orderBy('id')
    .forKeyShare()
    .execute();
  return [...new Set(rows.map((row) => row.organization_id))];
}

/** Refuses a project, read before, in which the caller does not hold the permission. */
export function requireProject<P extends { id: string; organization_id: string }>(
  caller: Caller,
  permission: Permission,
  project: P | null | undefined,
): P {
  if (!project) throw notFound();
  const { id: projectId, organization_id: organizationId } = project;
  authorize(caller, permission, { kind: 'project', organizationId, projectId });
  return project;
}

export function describeProject(row: ProjectRow): components['schemas']['Project'] {
  return {
    id: row.id,
    resource_name: projectResourceName(row.organization_id, row.id, 'project', row.id),
    organization_id: row.organization_id,
    team_id: row.team_id,
    name: row.name,
    created_at: row.created_at.toISOString(),
  };
}
