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
