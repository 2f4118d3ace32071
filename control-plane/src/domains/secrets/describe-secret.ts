import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { ProjectSecrets } from '../../platform/db/generated/schema.ts';
import { projectResourceName } from '../../platform/ids.ts';

/** What people may see of a secret: everything but its value. */
export const SECRET_COLUMNS = [
  'id',
  'organization_id',
  'project_id',
  'name',
  'version',
  'set_by',
  'set_by_name',
  'created_at',
  'set_at',
] as const;

export type SecretRow = Pick<Selectable<ProjectSecrets>, (typeof SECRET_COLUMNS)[number]>;

export function describeSecret(row: SecretRow): components['schemas']['ProjectSecret'] {
  return {
    id: row.id,
    name: row.name,
    resource_name: projectResourceName(row.organization_id, row.project_id, 'project_secret', row.id),
    organization_id: row.organization_id,
    project_id: row.project_id,
    version: row.version,
    set_by: row.set_by,
    set_by_name: row.set_by_name,
    created_at: row.created_at.toISOString(),
    set_at: row.set_at.toISOString(),
  };
}

/** Ties a sealed value to its row. */
export function secretContext(id: string): string {
  return `project_secret:${id}`;
}
