import { randomUUID } from 'node:crypto';
import { systemClock } from './clock.ts';

/** 12 bits of an identifier that count within a millisecond. */
const COUNTS = 4096;
let millisecond = 0;
let count = 0;

/**
 * Time-ordered identifier (UUIDv7) for every row we create; those of one process sort by creation. The random
 * part comes from Node's pool of random bytes: a system call for each costs more than everything else here.
 */
export function newId(): string {
  const now = systemClock.now().getTime();
  if (now > millisecond) {
    millisecond = now;
    count = 0;
  } else if (++count === COUNTS) {
    millisecond += 1;
    count = 0;
  }
  const time = millisecond.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.toString(16).padStart(3, '0')}-${randomUUID().slice(19)}`;
}

/** No row has it, and it sorts before the id of every row. */
export const NIL_ID = '00000000-0000-0000-0000-000000000000';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: string): boolean {
  return UUID.test(value);
}

export interface ResourceNameParts {
  region: string;
  organizationId: string;
  projectId: string;
  resourceType: string;
  resourceId: string;
}

const NAMESPACE = process.env['GPUAAS_RESOURCE_NAMESPACE'] ?? 'core42:aicloud';

/** Canonical name `core42:aicloud:{region}:{tenant_id}:{project_id}:{resource_type}:{resource_id}`. */
export function resourceName(parts: ResourceNameParts): string {
  return [
    NAMESPACE,
    parts.region,
    parts.organizationId,
    parts.projectId,
    parts.resourceType,
    parts.resourceId,
  ].join(':');
}

/** The name of something a project owns that is in no region. */
export function projectResourceName(
  organizationId: string,
  projectId: string,
  resourceType: string,
  resourceId: string,
): string {
  return resourceName({ region: 'global', organizationId, projectId, resourceType, resourceId });
}

/** The name of something a whole tenant owns: it stands in no project. */
export function tenantResourceName(organizationId: string, resourceType: string, resourceId: string): string {
  return projectResourceName(organizationId, '-', resourceType, resourceId);
}

/** The name of something that is the platform's own: it stands in no tenant. */
export function platformResourceName(region: string, resourceType: string, resourceId: string): string {
  return resourceName({ region, organizationId: '-', projectId: '-', resourceType, resourceId });
}
