import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../../platform/auth/caller.ts';
import type { Tx } from '../../../../platform/db/database.ts';
import { withRole } from '../../../../platform/db/scope.ts';
import { Problem } from '../../../../platform/http/problem.ts';
import { newId } from '../../../../platform/ids.ts';
import type { Services } from '../../../../platform/services.ts';
import type { AllocationRow } from '../../../allocations/transition-allocation.ts';
import type { VersionRow } from '../../catalog/describe-manifest.ts';
import { admitInstance } from '../../instances/admit-instance.ts';
import { requireParameters } from '../../instances/create-instance.ts';
import { insertInstance } from '../../instances/insert-instance.ts';
import type { ArtifactRow } from '../move-artifact.ts';
import { chooseCapacity } from './choose-capacity.ts';
import { findLastRun } from './find-smoke-runs.ts';

interface Wanted {
  reason: string;
  parameters?: components['schemas']['AppParameterValue'][];
  correlationId: string;
}

/** Starts the instance of a smoke run of a locked draft that passed its checks; one that goes on stays as it is. */
export async function startSmokeRun(
  services: Services,
  tx: Tx,
  caller: Caller,
  { digest }: ArtifactRow,
  { reason, parameters = [], correlationId }: Wanted,
): Promise<void> {
  if ((await findLastRun(tx, digest))?.state === 'running') return;
  await withRole(tx, 'gpuaas_worker', async () => {
    const version = await newestVersion(tx, digest);
    const values = requireParameters(version, { parameters });
    const allocation = await chooseCapacity(services.policies, tx, version);
    const id = newId();
    await insertRun(services, tx, caller, { id, digest, version, allocation });
    const created = await insertInstance(services, tx, caller, {
      id,
      request: { name: `Smoke run: ${reason}`.slice(0, 100) },
      allocation,
      version,
      parameters: values,
      former: null,
      correlationId,
    });
    const { gate } = await admitInstance(services, tx, created.id, allocation);
    if (gate?.outcome === 'reject') throw new Problem('app_rejected', gate.message, { extensions: { gate } });
  });
}

/** The version that was published last. Staging refuses an artifact without one. */
async function newestVersion(tx: Tx, digest: string): Promise<VersionRow> {
  return await tx
    .selectFrom('app_manifest_versions')
    .selectAll()
    .where('artifact_ref', '=', digest)
    .orderBy('published_at', 'desc')
    .orderBy('slug')
    .orderBy('version')
    .limit(1)
    .executeTakeFirstOrThrow();
}

async function insertRun(
  { clock, policies }: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  caller: Caller,
  run: { id: string; digest: string; version: VersionRow; allocation: AllocationRow },
): Promise<void> {
  const now = clock.now();
  const seconds = policies.get('apps.smoke_run_timeout_seconds');
  await tx
    .insertInto('app_artifact_smoke_runs')
    .values({
      id: newId(),
      digest: run.digest,
      app_slug: run.version.slug,
      app_version: run.version.version,
      app_instance_id: run.id,
      project_id: run.allocation.project_id,
      message: 'It was requested.',
      requested_by: caller.id,
      requested_by_name: caller.name.slice(0, 320),
      started_at: now,
      due_at: new Date(now.getTime() + seconds * 1000),
    })
    .execute();
}
