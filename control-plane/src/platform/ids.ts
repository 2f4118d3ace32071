import { v7 } from 'uuid';

/** Time-ordered identifier for every row we make. */
export function newId(): string {
  return v7();
}

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
