import { recordAudit } from '../../../platform/audit/record.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { MaasError } from '../../../platform/maas/maas-error.ts';
import type { Maas } from '../../../platform/maas/maas.ts';
import type { Services } from '../../../platform/services.ts';
import { cordonNode } from '../../fleet/cordons.ts';
import { emitNodeChanged } from '../../fleet/node-events.ts';
import { revokeIdentity } from '../../fleet/revoke-identity.ts';
import { liveClaims } from '../claims.ts';
import { lockAllocation, type AllocationRow } from '../move-allocation.ts';
import { planErasure } from './plan-erasure.ts';

/** How far an erasure is after one look. */
export type ErasureLook =
  | { kind: 'waiting'; begun: boolean; at: string; pauseSeconds: number }
  | { kind: 'erased'; systemId: string; at: string }
  | { kind: 'failed'; detail: string }
  /** Somebody else has proven the host clean, or has ended the allocation. */
  | { kind: 'clean' | 'withdrawn' };

export interface ErasureRun {
  allocationId: string;
  /** What the workflow wrote when it began; whatever else stands there now is somebody else's doing. */
  executionState: string;
  begun: boolean;
  /** When this attempt first looked; null at that look. */
  since: string | null;
}

type Progress = { waiting: string; begun: boolean } | { erased: true } | { failed: string };

/** One look at MAAS: asks for the erasure where none is under way. It may be taken again at any time. */
export async function lookAtErasure(services: Services, run: ErasureRun): Promise<ErasureLook> {
  const { db, clock, policies, maas } = services;
  const held = await db.transaction().execute((tx) => silenceHost(services, tx, run));
  if (held === 'clean' || held === 'withdrawn') return { kind: held };
  const systemId = await machineOf(services, held);
  const progress = maas
    ? await progressOf(maas, systemId, run.begun)
    : { waiting: 'This worker has no MAAS.', begun: run.begun };
  const now = clock.now();
  const at = now.toISOString();
  if ('erased' in progress) return { kind: 'erased', systemId, at };
  if ('failed' in progress) return { kind: 'failed', detail: progress.failed };
  const deadlineSeconds = policies.get('fleet.maas_deadline_seconds');
  const waited = run.since === null ? 0 : now.getTime() - new Date(run.since).getTime();
  if (waited > deadlineSeconds * 1000) {
    return { kind: 'failed', detail: `Not erased after ${deadlineSeconds} s. ${progress.waiting}` };
  }
  const pauseSeconds = policies.get('fleet.maas_poll_seconds');
  return { kind: 'waiting', begun: progress.begun, at, pauseSeconds };
}

/** A tenant with root may have the host's key, so nothing that is said with it counts from now on, and operators see why. */
async function silenceHost(
  { clock }: Services,
  tx: Tx,
  { allocationId, executionState }: ErasureRun,
): Promise<AllocationRow | 'clean' | 'withdrawn'> {
  const allocation = await lockAllocation(tx, allocationId);
  if ((await liveClaims(tx, allocationId)) === 0) return 'clean';
  if (allocation.execution_state !== executionState) return 'withdrawn';
  const nodeId = allocation.node_id!;
  const { identity_revoked_at } = await tx
    .selectFrom('nodes')
    .select('identity_revoked_at')
    .where('id', '=', nodeId)
    .executeTakeFirstOrThrow();
  if (!identity_revoked_at) {
    const since = clock.now();
    const detail = 'MAAS erases the host after a tenant with root; it comes back with another identity.';
    await revokeIdentity(tx, nodeId, since);
    await cordonNode(tx, nodeId, { reason: 'identity_rotation', detail, since });
    await emitNodeChanged(tx, nodeId, 'cordons_changed', allocation.correlation_id);
    await recordAudit(tx, {
      actorUserId: null,
      actorRole: 'worker',
      action: 'node.identity_revoke',
      targetType: 'node',
      targetId: nodeId,
      result: 'succeeded',
      correlationId: allocation.correlation_id,
      detail: { allocation_id: allocationId, reason: 'A tenant with root had the host.' },
    });
  }
  return allocation;
}

async function machineOf({ db }: Services, { node_id }: AllocationRow): Promise<string> {
  const { maas_system_id } = await db
    .selectFrom('nodes')
    .select('maas_system_id')
    .where('id', '=', node_id!)
    .executeTakeFirstOrThrow();
  if (maas_system_id === null) throw new Error(`node ${node_id} with a tenant with root is not of MAAS`);
  return maas_system_id;
}

async function progressOf({ client }: Maas, systemId: string, begun: boolean): Promise<Progress> {
  try {
    let machine = await client.machine(systemId);
    const user = await client.whoAmI();
    let plan = planErasure(machine, user, begun);
    if (plan === 'allocate') {
      machine = await client.allocate(systemId);
      plan = planErasure(machine, user, false);
    }
    if (plan === 'release') {
      const comment = 'GPUaaS erases what a tenant with root left';
      machine = await client.release(systemId, { secureErase: true }, comment);
    }
    if (plan === 'finish') return { erased: true };
    if (typeof plan === 'object') return { failed: plan.fail };
    return {
      waiting: `In MAAS the machine is ${machine.status.replaceAll('_', ' ')}.`,
      begun: begun || machine.status === 'disk_erasing',
    };
  } catch (error) {
    if (!(error instanceof MaasError)) throw error;
    // A conflict is looked at again, a key can be put right; what MAAS has understood and refused stays refused.
    return ['unavailable', 'unauthorized', 'conflict'].includes(error.trouble)
      ? { waiting: error.message, begun }
      : { failed: error.message };
  }
}
