import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database, type Db } from '../../platform/db/database.ts';
import { createTestDatabase } from '../../platform/db/testing.ts';
import type { SlotState } from '../../platform/db/stored-types.ts';
import { newId } from '../../platform/ids.ts';

/** Constraints of the database itself, whatever the service does. */
let database: Database;
let db: Db;
let drop: () => Promise<void>;
beforeAll(async () => {
  const created = await createTestDatabase();
  drop = created.drop;
  database = openDatabase(created.url);
  db = database.db;
});
afterAll(async () => {
  await database?.close();
  await drop?.();
});

async function addNode(): Promise<string> {
  const id = newId();
  await db
    .insertInto('nodes')
    .values({ id, hostname: `n-${id}`, region: 'uae-north-1', pool: 'p', rack: 'r', node_family: 'hgx-h200' })
    .execute();
  return id;
}

async function addSlot(
  nodeId: string,
  index: number,
  change: { state?: SlotState; vf?: string; metadata?: object } = {},
) {
  const id = newId();
  const metadata = change.metadata ?? {
    fabric_claim_mode: 'per_slot_vf',
    destructive_wipe_policy: 'blkdiscard',
  };
  await db
    .insertInto('node_resource_slots')
    .values({
      id,
      node_id: nodeId,
      slot_index: index,
      state: change.state ?? 'available',
      gpu_model: 'H200-SXM-141GB',
      gpu_pci_address: `0000:1${index}:00.0`,
      fabric_vf_pci_address: change.vf ?? `0000:2${index}:00.1`,
      nvme_serial: `S${index}`,
      nvme_device: `/dev/d${index}`,
      management_mac: `52:54:00:00:00:0${index}`,
      private_ip: `10.0.0.${index}`,
      ovs_port: `vm${index}`,
      numa_node: 0,
      pcie_root: 'pci0000:10',
      vcpu: 24,
      memory_gib: 64,
      capacity_metadata: JSON.stringify(metadata),
    })
    .execute();
  return id;
}

async function addAllocation(): Promise<string> {
  const [userId, organizationId, projectId, id] = [newId(), newId(), newId(), newId()];
  await db
    .insertInto('users')
    .values({ id: userId, issuer: 'i', subject: userId, email: 'e', name: 'n' })
    .execute();
  await db.insertInto('organizations').values({ id: organizationId, name: 'o' }).execute();
  const teamId = newId();
  await db
    .insertInto('teams')
    .values({ id: teamId, organization_id: organizationId, name: 'o', is_default: true })
    .execute();
  await db
    .insertInto('projects')
    .values({ id: projectId, organization_id: organizationId, team_id: teamId, name: 'p' })
    .execute();
  const price = await db.selectFrom('sku_prices').selectAll().executeTakeFirstOrThrow();
  await db
    .insertInto('allocations')
    .values({
      id,
      organization_id: organizationId,
      project_id: projectId,
      name: 'a',
      sku: price.sku,
      gpu_count: 1,
      image: 'H200-ubuntu-24.04-gpuaas-slice',
      image_digest: 'sha256:0',
      region: 'uae-north-1',
      state: 'reserved',
      currency: 'USD',
      per_gpu_hour_micros: 1n,
      price_id: price.id,
      created_by: userId,
      correlation_id: newId(),
    })
    .execute();
  return id;
}

async function claim(allocationId: string, nodeId: string, slotId: string | null): Promise<string> {
  const id = newId();
  await db
    .insertInto('allocation_resource_claims')
    .values({
      id,
      allocation_id: allocationId,
      node_id: nodeId,
      claim_kind: slotId ? 'slot' : 'node_exclusive',
      slot_id: slotId,
      snapshot: '{}',
    })
    .execute();
  return id;
}

describe('claims', () => {
  it('cannot overlap: slot on slot, node on slot, slot on node', async () => {
    const [nodeId, allocationId] = [await addNode(), await addAllocation()];
    const slots = [await addSlot(nodeId, 0), await addSlot(nodeId, 1)];
    const first = await claim(allocationId, nodeId, slots[0]!);
    await expect(claim(allocationId, nodeId, slots[0]!)).rejects.toThrow(/claim_cells_pkey/);
    await expect(claim(allocationId, nodeId, null)).rejects.toThrow(/claim_cells_pkey/);
    await claim(allocationId, nodeId, slots[1]!);
    await db
      .updateTable('allocation_resource_claims')
      .set({ released_at: new Date() })
      .where('node_id', '=', nodeId)
      .execute();
    await claim(allocationId, nodeId, null);
    await expect(claim(allocationId, nodeId, slots[0]!)).rejects.toThrow(/claim_cells_pkey/);
    await expect(
      db
        .updateTable('allocation_resource_claims')
        .set({ snapshot: '{"x":1}' })
        .where('id', '=', first)
        .execute(),
    ).rejects.toThrow(/snapshot/);
  });

  it('cannot name a slot of another node', async () => {
    const [here, there, allocationId] = [await addNode(), await addNode(), await addAllocation()];
    const slotId = await addSlot(there, 0);
    await expect(claim(allocationId, here, slotId)).rejects.toThrow(/another node/);
  });
});

describe('the execution state of an allocation', () => {
  const execution = (id: string, assignments: string) =>
    sql<{
      state: string;
      workflow: string | null;
    }>`update allocations set ${sql.raw(assignments)} where id = ${id}
      returning execution_state as state, execution_workflow_id as workflow`.execute(db);

  it('is one of a closed set', async () => {
    const id = await addAllocation();
    await expect(execution(id, `execution_state = 'tidying'`)).rejects.toThrow(/execution_state_check/);
  });

  it('accepts the words of the release before, and a rest ends what its workflow may do', async () => {
    const id = await addAllocation();
    const begun = await execution(id, `execution_state = 'cleaning up', execution_workflow_id = 'cleanup:1'`);
    expect(begun.rows).toEqual([{ state: 'cleaning_up', workflow: 'cleanup:1' }]);
    const ended = await execution(id, `execution_state = 'idle'`);
    expect(ended.rows).toEqual([{ state: 'idle', workflow: null }]);
  });
});

describe('slots', () => {
  it('cannot be sold incomplete or with a shared fabric VF', async () => {
    const nodeId = await addNode();
    await expect(addSlot(nodeId, 0, { vf: '' })).rejects.toThrow(/sellable_slot_is_complete/);
    const shared = { fabric_claim_mode: 'host_shared', destructive_wipe_policy: 'blkdiscard' };
    await expect(addSlot(nodeId, 0, { metadata: shared })).rejects.toThrow(/sellable_slot_is_complete/);
    const unwiped = { fabric_claim_mode: 'per_slot_vf', destructive_wipe_policy: '' };
    await expect(addSlot(nodeId, 0, { metadata: unwiped })).rejects.toThrow(/sellable_slot_is_complete/);
    await addSlot(nodeId, 0, { vf: '0000:99:00.1' });
    await expect(addSlot(nodeId, 1, { vf: '0000:99:00.1' })).rejects.toThrow(/unique/);
  });

  it('cannot return to sale without a verified wipe of the last tenant', async () => {
    const [nodeId, allocationId] = [await addNode(), await addAllocation()];
    const slotId = await addSlot(nodeId, 0);
    await claim(allocationId, nodeId, slotId);
    const move = (state: SlotState, lastWipeId: string | null = null) =>
      db
        .updateTable('node_resource_slots')
        .set({ state, last_wipe_id: lastWipeId })
        .where('id', '=', slotId)
        .execute();
    await move('cleaning');
    await expect(move('available')).rejects.toThrow(/no verified wipe/);
    await expect(move('available', await wipe(allocationId, slotId, nodeId, false))).rejects.toThrow(
      /no verified wipe/,
    );
    const proof = await wipe(allocationId, slotId, nodeId, true);
    await move('available', proof);
    await db
      .updateTable('allocation_resource_claims')
      .set({ released_at: new Date() })
      .where('slot_id', '=', slotId)
      .execute();
    await claim(await addAllocation(), nodeId, slotId);
    await move('cleaning');
    // Yesterday's proof does not cover today's tenant.
    await expect(move('available', proof)).rejects.toThrow(/no verified wipe/);
  });
});

async function wipe(
  allocationId: string,
  slotId: string,
  nodeId: string,
  verified: boolean,
): Promise<string> {
  const [id, taskId] = [newId(), newId()];
  await db
    .insertInto('node_tasks')
    .values({
      id: taskId,
      node_id: nodeId,
      subject_type: 'node',
      subject_id: nodeId,
      kind: 'slice.vm_release',
      params: '{}',
      correlation_id: newId(),
      expires_at: new Date(),
    })
    .execute();
  await db
    .insertInto('wipe_certificates')
    .values({
      id,
      allocation_id: allocationId,
      slot_id: slotId,
      slot_index: 0,
      node_task_id: taskId,
      device_serial: 'S0',
      method: 'blkdiscard',
      verified,
      verification: 'read back',
      started_at: new Date(),
      finished_at: new Date(),
    })
    .execute();
  return id;
}
