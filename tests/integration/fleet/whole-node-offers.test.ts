import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addDiscovery, addNode, ask, candidate, offerWholeNode } from '../../harness/fleet/fleet.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await api.services.db
    .updateTable('sku_catalog')
    .set({ enabled: true })
    .where('sku', '=', 'h200-sxm-baremetal')
    .execute();
});
afterAll(() => api?.stop());

interface Node {
  posture: string;
  posture_reason: string;
}

/** A host as an import for bare metal leaves it: no slots, and adapters without virtual functions. */
async function importedHost(gpus = 8): Promise<string> {
  const nodeId = await addNode(api);
  const { clock, db } = api.services;
  // Heard of for the whole test, however slow the machine is.
  const last_heartbeat_at = new Date(clock.now().getTime() + 3_600_000);
  await db
    .updateTable('nodes')
    .set({ mode: 'baremetal', last_heartbeat_at })
    .where('id', '=', nodeId)
    .execute();
  const found = Array.from({ length: gpus }, (_, index) =>
    candidate(index, { fabric_vf_pci_address: null, nvme_serial: null, nvme_device: null }),
  );
  await addDiscovery(api, nodeId, found);
  return nodeId;
}

async function launchWhole() {
  const { projectId } = api.people['member']!;
  const answer = await api.server.inject({
    method: 'POST',
    url: '/api/v1/allocations',
    headers: {
      authorization: `Bearer ${api.people['member']!.apiKey}`,
      'x-idempotency-key': crypto.randomUUID(),
    },
    payload: {
      project_id: projectId,
      sku: 'h200-sxm-baremetal',
      gpu_count: 8,
      image: 'H200-ubuntu-24.04-gpuaas-slice',
      region: 'uae-north-1',
    },
  });
  return { status: answer.statusCode, body: answer.json<{ code?: string; gpu_count?: number }>() };
}

const node = async (id: string): Promise<Node> =>
  (await ask<Node>(api, 'operator', 'GET', `/nodes/${id}`)).body;

it('a host imported for bare metal is sold as its inventory shows it, after an operator offers it', async () => {
  const nodeId = await importedHost();
  expect(await node(nodeId)).toMatchObject({
    posture: 'unavailable',
    posture_reason: 'No whole-node offer is approved.',
  });
  expect(await launchWhole()).toMatchObject({ status: 409, body: { code: 'sku_unavailable' } });

  expect((await offerWholeNode(api, nodeId)).body.items).toHaveLength(8);
  expect(await node(nodeId)).toMatchObject({ posture: 'fully_available' });
  expect(await launchWhole()).toMatchObject({ status: 202, body: { gpu_count: 8 } });
  expect(await launchWhole()).toMatchObject({ status: 409, body: { code: 'sku_unavailable' } });
  const claims = await api.services.db
    .selectFrom('allocation_resource_claims')
    .select(['claim_kind', 'slot_id'])
    .where('node_id', '=', nodeId)
    .execute();
  expect(claims).toEqual([{ claim_kind: 'node_exclusive', slot_id: null }]);
  expect((await offerWholeNode(api, nodeId)).status).toBe(409);
});

it('is refused with every reason, and to tenants', async () => {
  const small = await importedHost(4);
  expect(await offerWholeNode(api, small)).toMatchObject({
    status: 422,
    body: { code: 'slot_approval_refused', errors: [{ code: 'product_missing' }] },
  });
  const slices = await addNode(api);
  await addDiscovery(api, slices, [candidate(0)]);
  expect(await offerWholeNode(api, slices)).toMatchObject({
    body: { errors: [{ code: 'node_not_in_baremetal_mode' }, { code: 'product_missing' }] },
  });
  const tenant = await ask(api, 'admin', 'POST', `/nodes/${small}/whole-node-offer`, {
    discovery_task_id: crypto.randomUUID(),
  });
  expect(tenant.status).toBe(403);
});
