import { parseTaskOutput, type TaskOutput } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { TaskOutcome } from '../../tasks/complete-task.ts';
import { revokeIdentity } from '../../fleet/identity/revoke-identity.ts';
import { requestIdentityRotation } from '../../fleet/identity/rotate-identity.ts';
import { emitSlotsChanged, transitionNodeSlots } from '../../fleet/slots/transition-slots.ts';
import { openIncident, resolveIncident } from '../../incidents/open-incident.ts';
import { releaseNodeClaim } from '../claims.ts';
import { hostUsername } from '../connection/host-username.ts';
import { type AllocationRow, hostOf } from '../transition-allocation.ts';

type Proof = TaskOutput['allocation.deprovision_user'];

/** What proved a host clean: its own task, a person, or an erasure by MAAS. */
type ProofSource =
  | { kind: 'task'; taskId: string }
  | { kind: 'witness'; witnessId: string }
  | { kind: 'maas'; systemId: string };

export interface HostCleanup {
  source: ProofSource;
  method: string;
  verified: boolean;
  verification: string;
  startedAt: string | Date;
  finishedAt: string | Date;
}

/** The task after a bare-metal lease: no process, session or file of the tenant may be left. */
export function buildDeprovisionTask({ policies }: Services, allocation: AllocationRow) {
  return {
    kind: 'allocation.deprovision_user' as const,
    params: {
      allocation_id: allocation.id,
      username: hostUsername(allocation.id),
      stop_timeout_seconds: policies.get('allocations.stop_timeout_seconds', {
        organizationId: allocation.organization_id,
        projectId: allocation.project_id,
      }),
    },
  };
}

export async function recordHostCleanup(
  services: Services,
  tx: Tx,
  allocation: AllocationRow,
  result: TaskOutcome & { taskId: string },
): Promise<void> {
  const proof = proofOf(result.output);
  if (!proof) return await noteUnproven(tx, allocation, 'The host gave no proof of its cleanup.');
  const verified = proof.verified && proof.user_absent && proof.leftovers.length === 0;
  await storeCleanupProof(tx, allocation, {
    source: { kind: 'task', taskId: result.taskId },
    method: 'user_removed',
    verified,
    verification: proof.verification,
    startedAt: proof.started_at,
    finishedAt: proof.finished_at,
  });
  if (allocation.root_granted_at) await blockHost(tx, allocation, 'Its tenant had root; it must be erased.');
  else if (verified) await returnHostToPool(services, tx, allocation);
  else await noteUnproven(tx, allocation, `Cleanup not verified: ${proof.verification}`);
}

/** The workflow decides whether another attempt follows or an operator must act. */
async function noteUnproven(tx: Tx, allocation: AllocationRow, detail: string): Promise<void> {
  await transitionNodeSlots(tx, hostOf(allocation), {
    to: 'unchanged',
    health: { state: 'unhealthy', detail: detail.slice(0, 500) },
  });
}

/** Stores the evidence of an attempt once, however often the step runs. */
export async function storeCleanupProof(
  tx: Tx,
  allocation: AllocationRow,
  cleanup: HostCleanup,
): Promise<void> {
  const { source } = cleanup;
  await tx
    .insertInto('host_cleanups')
    .values({
      id: newId(),
      allocation_id: allocation.id,
      node_id: hostOf(allocation),
      node_task_id: source.kind === 'task' ? source.taskId : null,
      witnessed_by: source.kind === 'witness' ? source.witnessId : null,
      maas_system_id: source.kind === 'maas' ? source.systemId : null,
      method: cleanup.method,
      verified: cleanup.verified,
      verification: cleanup.verification,
      started_at: cleanup.startedAt,
      finished_at: cleanup.finishedAt,
    })
    .onConflict((c) => c.doNothing())
    .execute();
}

export async function returnHostToPool(services: Services, tx: Tx, allocation: AllocationRow): Promise<void> {
  const now = services.clock.now();
  const nodeId = hostOf(allocation);
  await releaseNodeClaim(tx, allocation.id, now);
  const health = { state: 'healthy', detail: 'The host was proven clean after a baremetal lease.' } as const;
  await transitionNodeSlots(tx, nodeId, { to: 'available', health });
  await resolveIncident(tx, now, { type: 'host_cleanup_blocked', targetId: nodeId }, health.detail);
  await emitSlotsChanged(tx, nodeId, allocation.correlation_id);
  // A tenant with root may have copied the key, so the host must enrol again.
  if (allocation.root_granted_at) await revokeIdentity(tx, nodeId, now);
  await requestIdentityRotation(tx, now, nodeId, allocation.correlation_id);
}

export async function blockHost(tx: Tx, allocation: AllocationRow, detail: string): Promise<void> {
  await transitionNodeSlots(tx, hostOf(allocation), {
    to: 'cleanup_blocked',
    health: { state: 'unhealthy', detail: detail.slice(0, 500) },
  });
  await emitSlotsChanged(tx, hostOf(allocation), allocation.correlation_id);
}

export async function reportHostBlocked(
  services: Services,
  tx: Tx,
  allocation: AllocationRow,
  { attempts, why }: { attempts: number; why?: string | undefined },
): Promise<void> {
  const tried = why === undefined ? 'cleanups gave no proof.' : `erasures failed. ${why}`;
  await openIncident(tx, services.clock.now(), {
    type: 'host_cleanup_blocked',
    targetType: 'node',
    targetId: hostOf(allocation),
    summary: `The host is quarantined after a baremetal lease: ${attempts} ${tried}`.slice(0, 500),
    detail: { allocation_id: allocation.id },
  });
}

/** A failed task may still carry evidence; unparsable output proves nothing. */
function proofOf(output: unknown): Proof | null {
  try {
    return parseTaskOutput('allocation.deprovision_user', output);
  } catch {
    return null;
  }
}
