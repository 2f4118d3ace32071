import { parseTaskOutput, type TaskOutput } from '@gpuaas/contracts/tasks';
import type { Policies } from '../../platform/policy/policies.ts';
import type { Services } from '../../platform/services.ts';
import { step, type WorkflowDefinition } from '../../platform/workflows/definition.ts';
import type { TaskFailure } from '../fleet/complete-task.ts';
import { runTask } from '../fleet/run-task.ts';
import { startMeter } from '../billing/start-meter.ts';
import { emitSlotsChanged, moveSlots } from '../fleet/slot-states.ts';
import { accessPublicKey, createAccessKey, destroyAccessKey } from './access-key.ts';
import { emitAllocation } from './allocation-events.ts';
import { claimedSlots } from './claims.ts';
import { moveAllocation } from './move-allocation.ts';
import { wipeDeadline, wipeSlots } from './wipe-slots.ts';

interface Input {
  allocationId: string;
  correlationId: string;
}

export const GUEST_USER = 'ubuntu';

export const provisionWorkflow: WorkflowDefinition<Services, Input> = {
  name: 'allocation.provision',
  deadlineSeconds: ({ policies }) => provisionDeadline(policies),
  async run(services, { allocationId }) {
    await step('provision.begin', () => begin(services, allocationId));
    const deadlineSeconds = services.policies.get('allocations.provision_deadline_seconds');
    const result = await runTask(services, 'provision', deadlineSeconds, () =>
      provisionTask(services, allocationId),
    );
    if (result.outcome === 'succeeded') {
      const output = parseTaskOutput('slice.vm_provision', result.output);
      await step('provision.activate', () => activate(services, allocationId, output));
      return;
    }
    const failure = result.error ?? { code: 'unexplained', detail: 'The host gave no reason.' };
    await step('provision.fail', () => fail(services, allocationId, failure));
    // Whatever the failed attempt left behind must be proven gone before the slots are sold again.
    await wipeSlots(services, allocationId, provisionWorkflowId(allocationId));
    await step('provision.cleaned', () => noteCleaned(services, allocationId));
  },
};

/** The task and, when it fails, the attempts to clean up, with a quarter of that for waiting in line. */
export function provisionDeadline(policies: Policies): number {
  const task = policies.get('allocations.provision_deadline_seconds');
  return 1.25 * (task + wipeDeadline(policies));
}

export function provisionWorkflowId(allocationId: string): string {
  return `provision:${allocationId}`;
}

async function begin(services: Services, allocationId: string): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const moved = await moveAllocation(tx, allocationId, 'provisioning', { execution_state: 'provisioning' });
    if (!moved) return;
    await createAccessKey(services, tx, allocationId);
    await emitAllocation(tx, 'allocation.provisioning', moved, {
      stage: 'plan',
      status: 'running',
      message: 'The host was asked to build the machine',
    });
  });
}

async function provisionTask(services: Services, allocationId: string) {
  const { db } = services;
  const allocation = await db
    .selectFrom('allocations')
    .selectAll()
    .where('id', '=', allocationId)
    .executeTakeFirstOrThrow();
  const sku = await db
    .selectFrom('sku_catalog')
    .selectAll()
    .where('sku', '=', allocation.sku)
    .executeTakeFirstOrThrow();
  return {
    nodeId: allocation.node_id!,
    kind: 'slice.vm_provision' as const,
    params: {
      allocation_id: allocationId,
      hostname: allocation.name,
      image: { name: allocation.image, digest: allocation.image_digest },
      slots: await claimedSlots(db, allocationId),
      vcpu: sku.vcpu_per_gpu * allocation.gpu_count,
      memory_gib: sku.memory_gib_per_gpu * allocation.gpu_count,
      username: GUEST_USER,
      ssh_authorized_keys: [await accessPublicKey(db, allocationId), ...allocation.ssh_authorized_keys],
    },
    correlationId: allocation.correlation_id,
    allocationId,
    workflowId: provisionWorkflowId(allocationId),
    dedupeKey: provisionWorkflowId(allocationId),
  };
}

async function activate(
  services: Services,
  allocationId: string,
  output: TaskOutput['slice.vm_provision'],
): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const moved = await moveAllocation(tx, allocationId, 'active', {
      observed_state: 'running',
      execution_state: 'idle',
      active_at: services.clock.now(),
      connection: JSON.stringify({
        username: GUEST_USER,
        host_key_fingerprint: output.host_key_fingerprint,
        ...output.network,
      }),
    });
    if (!moved) return;
    await startMeter(tx, moved);
    const slots = await claimedSlots(tx, allocationId);
    await moveSlots(
      tx,
      slots.map((slot) => slot.slot_id),
      {
        to: 'in_use',
        health: { state: 'healthy', detail: 'The machine on it passed its readiness checks.' },
      },
    );
    await emitAllocation(tx, 'allocation.active', moved, {
      stage: 'active',
      status: 'done',
      message: 'The machine answers; billing has started',
      percent: 100,
    });
    await emitSlotsChanged(tx, moved.node_id!, moved.correlation_id);
  });
}

async function fail(services: Services, allocationId: string, failure: TaskFailure): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const moved = await moveAllocation(tx, allocationId, 'failed', {
      observed_state: 'unknown',
      execution_state: 'cleaning up',
      failure: JSON.stringify({ code: failure.code, detail: failure.detail.slice(0, 1000) }),
    });
    if (!moved) return;
    await destroyAccessKey(tx, allocationId);
    const slots = await claimedSlots(tx, allocationId);
    await moveSlots(
      tx,
      slots.map((slot) => slot.slot_id),
      {
        to: 'cleanup_blocked',
        health: { state: 'unhealthy', detail: `Provisioning failed: ${failure.code}` },
      },
    );
    await emitAllocation(tx, 'allocation.failed', moved, {
      stage: 'failed',
      status: 'failed',
      message: `Provisioning failed: ${failure.detail}`.slice(0, 500),
    });
    await emitSlotsChanged(tx, moved.node_id!, moved.correlation_id);
  });
}

async function noteCleaned(services: Services, allocationId: string): Promise<void> {
  await services.db
    .updateTable('allocations')
    .set({ execution_state: 'idle' })
    .where('id', '=', allocationId)
    .execute();
}
