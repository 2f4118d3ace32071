import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { AllocationRow } from '../../allocations/transition-allocation.ts';
import type { VersionRow } from '../catalog/describe-manifest.ts';
import type { ParameterValue } from './parameters.ts';
import { recordAppEvent, type InstanceRow } from './record-event.ts';
import { takePorts } from './take-ports.ts';

interface NewRow {
  id: string;
  request: Pick<components['schemas']['CreateAppInstance'], 'name' | 'env'>;
  allocation: AllocationRow;
  version: VersionRow;
  parameters: ParameterValue[];
  former: InstanceRow | null;
  correlationId: string;
}

/** Records an instance with its member, events and ports; its gates are asked afterwards. Needs the role `gpuaas_worker`. */
export async function insertInstance(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  caller: Caller,
  of: NewRow,
): Promise<InstanceRow> {
  const { id, request, allocation, version, parameters, former, correlationId } = of;
  const now = clock.now();
  const instance = await tx
    .insertInto('app_instances')
    .values({
      id,
      organization_id: allocation.organization_id,
      project_id: allocation.project_id,
      app_slug: version.slug,
      app_version: version.version,
      kind: version.kind,
      name: request.name ?? version.display_name,
      bound_capacity_shape: allocation.capacity_shape,
      allocation_id: allocation.id,
      parameters: JSON.stringify(parameters),
      env: JSON.stringify(request.env ?? []),
      retry_of: former?.id ?? null,
      attempt: (former?.attempt ?? 0) + 1,
      correlation_id: correlationId,
      created_by: caller.id,
      created_by_name: caller.name.slice(0, 320),
      created_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const ports = version.runtime_profile.ports.map(({ port }) => port);
  const member = {
    id: newId(),
    organization_id: allocation.organization_id,
    instance_id: instance.id,
    allocation_id: allocation.id,
    role: 'node',
    ports,
  } as const;
  await tx.insertInto('app_instance_members').values(member).execute();
  await takePorts(tx, member);
  await recordAppEvent(tx, now, instance, {
    type: 'created',
    message: `${version.display_name} ${version.version}`,
    ...(former ? { payload: { retry_of: former.id, attempt: instance.attempt } } : {}),
  });
  return instance;
}
