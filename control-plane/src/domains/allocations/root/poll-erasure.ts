import { recordAudit } from '../../../platform/audit/record.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { MaasError } from '../../../platform/maas/maas-error.ts';
import type { Maas } from '../../../platform/maas/maas.ts';
import type { Services } from '../../../platform/services.ts';
import { cordonNode } from '../../fleet/nodes/cordons.ts';
import { emitNodeChanged } from '../../fleet/nodes/node-events.ts';
import { revokeIdentity } from '../../fleet/identity/revoke-identity.ts';
import { isExecutedBy } from '../execution.ts';
import { liveClaims } from '../claims.ts';
import { type AllocationRow, hostOf, lockAllocation } from '../transition-allocation.ts';
import { planErasure } from './plan-erasure.ts';

/** State of an erasure after one poll. */
export type ErasureStatus =
  | { kind: 'waiting'; begun: boolean; at: string; pauseSeconds: number }
  | { kind: 'erased'; systemId: string; at: string }
  | { kind: 'failed'; detail: string }
  /** The host was proven clean by other means, or the allocation was ended. */
  | { kind: 'clean' | 'withdrawn' };

export interface ErasureRun {
  allocationId: string;
  workflowId: string;
  begun: boolean;
  /** When this attempt first polled; null at the first poll. */
  since: string | null;
}

type Progress =
  | { kind: 'waiting'; detail: string; begun: boolean }
  | { kind: 'erased' }
  | { kind: 'failed'; detail: string };

/** Polls MAAS: starts the erasure if none is running. Safe to repeat. */
export async function pollErasure(services: Services, run: ErasureRun): Promise<ErasureStatus> {
  const { db, clock, policies, maas } = services;
  const held = await db.transaction().execute((tx) => silenceHost(services, tx, run));
  if (held.kind !== 'held') return held;
  const systemId = await machineOf(services, held.allocation);
  const progress: Progress = maas
    ? await progressOf(maas, systemId, run.begun)
    : { kind: 'waiting', detail: 'This worker has no MAAS.', begun: run.begun };
  const now = clock.now();
  const at = now.toISOString();
  if (progress.kind === 'erased') return { kind: 'erased', systemId, at };
  if (progress.kind === 'failed') return progress;
  const deadlineSeconds = policies.get('fleet.maas_deadline_seconds');
  const waited = run.since === null ? 0 : now.getTime() - new Date(run.since).getTime();
  if (waited > deadlineSeconds * 1000) {
    return { kind: 'failed', detail: `Not erased after ${deadlineSeconds} s. ${progress.detail}` };
  }
  const pauseSeconds = policies.get('fleet.maas_poll_seconds');
  return { kind: 'waiting', begun: progress.begun, at, pauseSeconds };
}

/**
 * A tenant with root may have the host's key, so its reports do not count from now on; operators see the
 * reason.
 */
async function silenceHost(
  { clock }: Services,
  tx: Tx,
  { allocationId, workflowId }: ErasureRun,
): Promise<{ kind: 'held'; allocation: AllocationRow } | { kind: 'clean' | 'withdrawn' }> {
  const allocation = await lockAllocation(tx, allocationId);
  if ((await liveClaims(tx, allocationId)) === 0) return { kind: 'clean' };
  if (!isExecutedBy(allocation, workflowId)) return { kind: 'withdrawn' };
  const nodeId = hostOf(allocation);
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
  return { kind: 'held', allocation };
}

async function machineOf({ db }: Services, allocation: AllocationRow): Promise<string> {
  const nodeId = hostOf(allocation);
  const { maas_system_id } = await db
    .selectFrom('nodes')
    .select('maas_system_id')
    .where('id', '=', nodeId)
    .executeTakeFirstOrThrow();
  if (maas_system_id === null) throw new Error(`node ${nodeId} with a tenant with root is not of MAAS`);
  return maas_system_id;
}

async function progressOf({ client }: Maas, systemId: string, begun: boolean): Promise<Progress> {
  try {
    let machine = await client.machine(systemId);
    const user = await client.whoAmI();
    let plan = planErasure(machine, user, begun);
    if (plan.kind === 'allocate') {
      machine = await client.allocate(systemId);
      plan = planErasure(machine, user, false);
    }
    if (plan.kind === 'release') {
      const comment = 'GPUaaS erases what a tenant with root left';
      machine = await client.release(systemId, { secureErase: true }, comment);
    }
    if (plan.kind === 'finish') return { kind: 'erased' };
    if (plan.kind === 'fail') return { kind: 'failed', detail: plan.detail };
    return {
      kind: 'waiting',
      detail: `In MAAS the machine is ${machine.status.replaceAll('_', ' ')}.`,
      begun: begun || machine.status === 'disk_erasing',
    };
  } catch (error) {
    if (!(error instanceof MaasError)) throw error;
    // A conflict is polled again and a key can be corrected; any other refusal by MAAS is final.
    return ['unavailable', 'unauthorized', 'conflict'].includes(error.trouble)
      ? { kind: 'waiting', detail: error.message, begun }
      : { kind: 'failed', detail: error.message };
  }
}
