import { isDeepStrictEqual } from 'node:util';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { capacityOf } from '../../allocations/capacity.ts';
import type { AllocationRow } from '../../allocations/transition-allocation.ts';
import { isSmokeRun } from '../artifacts/smoke-runs/find-smoke-runs.ts';
import { findOffered, findVersion } from '../catalog/find-manifests.ts';
import { endUnstarted } from './end-unstarted.ts';
import { firstClosedGate, type Gate } from './gates/gates.ts';
import { takeSnapshot } from './gates/take-snapshot.ts';
import { lockInstance, moveInstance } from './move-instance.ts';
import { recordAppEvent, type InstanceRow } from './record-event.ts';
import { START_WORKFLOW, startWorkflowId } from './workflow-names.ts';

type AdmitServices = Pick<Services, 'clock' | 'policies' | 'workflows'>;

/**
 * Starts a waiting instance if every gate is open, or writes the first closed one on it. The allocation must be locked
 * before: a release that is requested meanwhile comes after. Needs the role `gpuaas_worker`.
 */
export async function admitInstance(
  services: AdmitServices,
  tx: Tx,
  instanceId: string,
  allocation: AllocationRow,
): Promise<{ instance: InstanceRow; gate: Gate | null }> {
  const instance = await lockInstance(tx, instanceId);
  if (instance.status !== 'created') return { instance, gate: null };
  const version = await findVersion(tx, { slug: instance.app_slug, version: instance.app_version });
  const request = {
    organizationId: instance.organization_id,
    projectId: instance.project_id,
    createdBy: instance.created_by,
    version,
    offered: (await findOffered(tx, instance.app_slug)) !== null || (await isSmokeRun(tx, instance.id)),
  };
  const snapshot = await takeSnapshot(services, tx, request, capacityOf(allocation));
  const gate = firstClosedGate(snapshot);
  if (!gate) return { instance: await start(services, tx, instance), gate };
  if (gate.outcome === 'reject') return { instance: await reject(services, tx, instance, gate), gate };
  return { instance: await wait(services, tx, instance, gate), gate };
}

async function start(services: AdmitServices, tx: Tx, instance: InstanceRow): Promise<InstanceRow> {
  const { clock, policies, workflows } = services;
  const now = clock.now();
  await tx
    .updateTable('app_instance_members')
    .set({ status: 'starting' })
    .where('instance_id', '=', instance.id)
    .execute();
  const starting = await moveInstance(tx, instance, 'starting', {
    gate: null,
    reason: null,
    due_at: new Date(now.getTime() + policies.get('apps.start_timeout_seconds') * 1000),
  });
  await recordAppEvent(tx, now, starting, { type: 'starting', message: 'Every gate is open; it starts' });
  await workflows.start(tx, START_WORKFLOW, startWorkflowId(instance.id), {
    instanceId: instance.id,
    correlationId: instance.correlation_id,
  });
  return starting;
}

async function reject(
  { clock }: AdmitServices,
  tx: Tx,
  instance: InstanceRow,
  gate: Gate,
): Promise<InstanceRow> {
  const { reason, message } = gate;
  return await endUnstarted(tx, clock.now(), instance, { ending: 'failed', reason, message, gate });
}

/** The same gate again changes only its numbers. */
async function wait(
  { clock }: AdmitServices,
  tx: Tx,
  instance: InstanceRow,
  gate: Gate,
): Promise<InstanceRow> {
  const known = instance.gate;
  if (isDeepStrictEqual(known, gate)) return instance;
  const waiting = await tx
    .updateTable('app_instances')
    .set({ gate: JSON.stringify(gate), reason: gate.reason })
    .where('id', '=', instance.id)
    .returningAll()
    .executeTakeFirstOrThrow();
  if (known?.gate !== gate.gate || known.message !== gate.message)
    await recordAppEvent(tx, clock.now(), waiting, {
      type: 'gate_waiting',
      reason: gate.reason,
      message: gate.message,
      payload: { gate: gate.gate, facts: gate.facts },
    });
  return waiting;
}
