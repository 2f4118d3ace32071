import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { capacityOf } from '../../allocations/capacity.ts';
import { findAllocation } from '../../allocations/find-allocation.ts';
import type { AllocationRow } from '../../allocations/transition-allocation.ts';
import { findProject } from '../../tenancy/projects/find-project.ts';
import type { VersionRow } from '../catalog/describe-manifest.ts';
import { lockLaunchable } from '../catalog/find-launchable.ts';
import { judgeCompatibility } from '../compatibility/judge-compatibility.ts';
import { isSettable } from '../executors/allocation/runner/write-spec.ts';
import { admitInstance } from './admit-instance.ts';
import { findInstance } from './find-instance.ts';
import { insertInstance } from './insert-instance.ts';
import { resolveParameters, type ParameterValue } from './parameters.ts';
import type { InstanceRow } from './record-event.ts';
import { hasEnded } from './states.ts';

type NewInstance = components['schemas']['CreateAppInstance'];

/** Starts an app on an allocation in one transaction: it starts, waits for a gate, or is refused. */
export async function createInstance(
  services: Services,
  tx: Tx,
  caller: Caller,
  request: NewInstance,
  correlationId: string,
): Promise<InstanceRow> {
  const project = await findProject(tx, caller, 'app_instance.create', request.project_id, {
    staysOpen: true,
  });
  // Locked: a release that is requested meanwhile comes after, and finds the instance.
  const allocation = await findAllocation(tx, caller, 'app_instance.create', request.allocation_id, {
    lock: true,
  });
  if (allocation.project_id !== project.id) throw notFound();
  const version = await withRole(tx, 'gpuaas_worker', () => lockLaunchable(tx, request.app_slug, project.id));
  if (!version) throw new Problem('app_unknown', `There is no app ${request.app_slug}.`);
  requireCompatible(version, allocation);
  const parameters = requireParameters(version, request);
  const former = await findFormer(tx, caller, request);
  return await withRole(tx, 'gpuaas_worker', async () => {
    const created = await insertInstance(services, tx, caller, {
      id: newId(),
      request,
      allocation,
      version,
      parameters,
      former,
      correlationId,
    });
    const { instance, gate } = await admitInstance(services, tx, created.id, allocation);
    if (gate?.outcome === 'reject') throw new Problem('app_rejected', gate.message, { extensions: { gate } });
    return instance;
  });
}

function requireCompatible({ compatibility, slug }: VersionRow, allocation: AllocationRow): void {
  const refusals = judgeCompatibility(compatibility, capacityOf(allocation));
  if (refusals.length === 0) return;
  throw new Problem('app_incompatible', `${slug}: ${refusals.map(({ message }) => message).join(' ')}`, {
    extensions: { refusals },
  });
}

/** Values of all parameters; refuses what does not fit the version. */
export function requireParameters(
  version: VersionRow,
  { parameters = [], env = [] }: Pick<NewInstance, 'parameters' | 'env'>,
): ParameterValue[] {
  const { values, faults } = resolveParameters(version.parameters, parameters);
  const taken = new Set(version.secrets);
  const unsettable = env
    .filter(({ name }) => !isSettable(name) || taken.has(name) || name.startsWith('PARAM_'))
    .map(({ name }) => ({ pointer: '/env', detail: `${name} cannot be set` }));
  const errors = [
    ...faults.map(({ name, detail }) => ({ pointer: '/parameters', detail: `${name} ${detail}` })),
    ...unsettable,
  ];
  if (errors.length === 0) return values;
  throw new Problem('app_parameters_invalid', `The parameters do not fit ${version.slug}.`, { errors });
}

async function findFormer(
  tx: Tx,
  caller: Caller,
  { retry_of: retryOf, app_slug: slug, project_id: projectId }: NewInstance,
): Promise<InstanceRow | null> {
  if (retryOf === undefined) return null;
  const former = await findInstance(tx, caller, 'app_instance.read', retryOf);
  if (hasEnded(former.status) && former.app_slug === slug && former.project_id === projectId) return former;
  throw new Problem('app_not_retryable', `The instance is ${former.app_slug} and ${former.status}.`);
}
