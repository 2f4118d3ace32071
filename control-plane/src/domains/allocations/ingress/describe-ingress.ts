import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { PublicIngresses } from '../../../platform/db/generated/schema.ts';
import { resourceName } from '../../../platform/ids.ts';

export type IngressRow = Selectable<PublicIngresses>;
type Ingress = components['schemas']['Ingress'];

export function describeIngress(row: IngressRow, region: string): Ingress {
  return {
    id: row.id,
    resource_name: resourceName({
      region,
      organizationId: row.organization_id,
      projectId: row.project_id,
      resourceType: 'ingress',
      resourceId: row.id,
    }),
    allocation_id: row.allocation_id,
    protocol: row.protocol,
    public_address: row.public_address,
    public_port: row.public_port,
    machine_port: row.machine_port,
    state: row.state,
    failure: row.failure,
    created_at: row.created_at.toISOString(),
    attached_at: row.attached_at?.toISOString() ?? null,
  };
}
