import type { Tx } from '../../../../platform/db/database.ts';
import { Problem } from '../../../../platform/http/problem.ts';
import type { Policies } from '../../../../platform/policy/policies.ts';
import { listCapacity } from '../../../allocations/capacity.ts';
import { lockAllocation, type AllocationRow } from '../../../allocations/transition-allocation.ts';
import type { VersionRow } from '../../catalog/describe-manifest.ts';
import { judgeCompatibility } from '../../compatibility/judge-compatibility.ts';
import { findTakenPorts } from '../../instances/take-ports.ts';

/** More than the platform's own project needs. */
const CANDIDATES = 200;

/**
 * Locks an allocation of the platform's own project on which the version can run; an active one if there is one. Needs the
 * role `gpuaas_worker`.
 */
export async function chooseCapacity(
  policies: Policies,
  tx: Tx,
  { slug, version, compatibility, runtime_profile: runtime }: VersionRow,
): Promise<AllocationRow> {
  const projectId = policies.get('apps.smoke_run_project');
  if (projectId === '') throw noCapacity('The policy apps.smoke_run_project names no project.');
  const all = await listCapacity(tx, projectId, { after: null, limit: CANDIDATES });
  const wanted = all.filter(({ desiredState }) => desiredState === 'active');
  if (wanted.length === 0) throw noCapacity(`Project ${projectId} has no allocation. Launch one there.`);
  const judged = wanted.map((capacity) => ({
    capacity,
    refusals: judgeCompatibility(compatibility, capacity),
  }));
  const fitting = judged.filter(({ refusals }) => refusals.length === 0).map(({ capacity }) => capacity);
  const [first] = judged.flatMap(({ refusals }) => refusals);
  if (fitting.length === 0)
    throw noCapacity(`No allocation of project ${projectId} fits ${slug} ${version}: ${first?.message}`);
  const ports = runtime.ports.map(({ port }) => port);
  const taken = await findTakenPorts(
    tx,
    fitting.map(({ id }) => id),
    ports,
  );
  const free = fitting.filter(({ id }) => !taken.has(id));
  const chosen = free.find(({ state }) => state === 'active') ?? free[0];
  if (!chosen)
    throw noCapacity(`Other apps use port ${ports.join(', ')} on every allocation of project ${projectId}.`);
  return await lockAllocation(tx, chosen.id);
}

function noCapacity(why: string): Problem {
  return new Problem('smoke_run_capacity', why, { extensions: { reason: 'capacity' } });
}
