import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SIMULATED_FAULTS } from '@gpuaas/contracts/simulated-faults';
import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import { unwrap } from '@gpuaas/sdk/problem';
import { createTestApi } from '../../harness/api.ts';
import { ask } from '../../harness/fleet/fleet.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

const HOST = 'sim-h200-01';
const deadline = { timeout: 90_000, interval: 300 };
type Fault = (typeof SIMULATED_FAULTS)[number];

it('has one list of faults in the contract and in the agents', () => {
  expect(document.components.schemas.LabFault.enum.toSorted()).toEqual([...SIMULATED_FAULTS].toSorted());
});

it('does not exist without simulated hosts', async () => {
  const api = await createTestApi({ lab: null });
  try {
    const paths = ['/lab/hosts', `/lab/hosts/${HOST}/faults`];
    for (const path of paths) expect((await ask(api, 'operator', 'GET', path)).status).toBe(404);
    const set = { method: 'PUT' as const, url: `/api/v1/admin/lab/hosts/${HOST}/faults` };
    const headers = { authorization: `Bearer ${api.people['operator']!.apiKey}` };
    const answer = await api.server.inject({ ...set, headers, payload: { faults: ['gpu_lost'] } });
    expect(answer.statusCode).toBe(404);
  } finally {
    await api.stop();
  }
});

describe('faults set at run time', () => {
  let platform: TestPlatform;
  let nodeId: string;
  beforeAll(async () => {
    platform = await startTestPlatform({ nodes: 1 });
    nodeId = (await unwrap(platform.operator.GET('/api/v1/admin/nodes'))).items[0]!.id;
  }, 180_000);
  afterAll(() => platform?.stop());

  const at = { path: { lab_hostname: HOST } };
  const set = (faults: Fault[]) =>
    unwrap(
      platform.operator.PUT('/api/v1/admin/lab/hosts/{lab_hostname}/faults', {
        params: at,
        body: { faults },
      }),
    );
  const standing = async () =>
    (await unwrap(platform.operator.GET('/api/v1/admin/lab/hosts/{lab_hostname}/faults', { params: at })))
      .faults;
  const node = () =>
    unwrap(platform.operator.GET('/api/v1/admin/nodes/{node_id}', { params: { path: { node_id: nodeId } } }));
  const cordons = async () => (await node()).cordons.map(({ reason }) => reason).toSorted();

  async function run(path: 'readiness' | 'slice-topology/discovery'): Promise<void> {
    const params = { path: { node_id: nodeId } };
    const { id } =
      path === 'readiness'
        ? await unwrap(platform.operator.POST('/api/v1/admin/nodes/{node_id}/readiness', { params }))
        : await unwrap(
            platform.operator.POST('/api/v1/admin/nodes/{node_id}/slice-topology/discovery', { params }),
          );
    const look = async () =>
      (
        await unwrap(
          platform.operator.GET('/api/v1/admin/tasks/{task_id}', { params: { path: { task_id: id } } }),
        )
      ).task.state;
    await expect.poll(look, deadline).toBe('succeeded');
  }

  it('are listed, audited, and show in what the host reports until they are lifted', async () => {
    const faults: Fault[] = [
      'disk_mounted',
      'gpu_lost',
      'gpu_failing',
      'clock_skew',
      'iommu_off',
      'sriov_off',
      'reboot_required',
    ];
    expect((await set(faults)).faults.toSorted()).toEqual(faults.toSorted());
    const hosts = await unwrap(platform.operator.GET('/api/v1/admin/lab/hosts'));
    expect(hosts.items).toMatchObject([{ hostname: HOST }]);
    await expect.poll(cordons, deadline).toEqual(['gpu_missing', 'gpu_unhealthy']);
    expect((await node()).states.observed).toBe('degraded');

    await run('readiness');
    const params = { path: { node_id: nodeId } };
    const readiness = await unwrap(
      platform.operator.GET('/api/v1/admin/nodes/{node_id}/readiness', { params }),
    );
    const misses = readiness.checks.filter(({ state }) => state !== 'ok');
    expect(misses.map(({ id }) => id)).toEqual(expect.arrayContaining(['iommu', 'sriov', 'reboot_required']));
    expect(misses.every(({ remedy }) => remedy !== null)).toBe(true);
    // Without an IOMMU there would be no candidates.
    await set(faults.filter((fault) => fault !== 'iommu_off'));
    await run('slice-topology/discovery');
    const { approval } = await unwrap(
      platform.operator.GET('/api/v1/admin/nodes/{node_id}/slice-topology/discovery', { params }),
    );
    const broken = approval.flatMap(({ slot_index, rules }) =>
      rules.filter(({ breach }) => breach !== null).map(({ code }) => `${code} ${slot_index}`),
    );
    // GPU 7 is offered the disk beside the lost GPU instead of its mounted one, and that is slot 6's.
    expect(broken).toEqual(expect.arrayContaining(['fabric_vf_missing 0', 'nvme_shared 7']));
    const drift = await unwrap(
      platform.operator.GET('/api/v1/admin/nodes/{node_id}/slice-topology/drift', { params }),
    );
    expect(drift.items.map(({ kind, slot_index }) => `${kind} ${slot_index}`)).toEqual(
      expect.arrayContaining(['gpu_missing 6', 'disk_mounted 7']),
    );
    const { db } = platform.services;
    const offset = async () => {
      const row = await db.selectFrom('nodes').select('observed').executeTakeFirstOrThrow();
      return row.observed.clock_offset_ms;
    };
    await expect.poll(offset, deadline).toBeGreaterThan(86_000_000);

    const health = async () => {
      const slots = await unwrap(
        platform.operator.GET('/api/v1/admin/nodes/{node_id}/resource-slots', { params }),
      );
      return slots.items.map((slot) => slot.health_detail.split(':')[0]);
    };
    // Without virtual functions every slot lacks its own.
    await expect.poll(health, deadline).toEqual(Array<string>(8).fill('Missing'));

    await set([]);
    // A check that passes ends the cordon of the failed one.
    await run('readiness');
    await run('slice-topology/discovery');
    await expect.poll(cordons, deadline).toEqual([]);
    const mended = Array<string>(8).fill('Its devices are as they were approved.');
    await expect.poll(health, deadline).toEqual(mended);
    const logs = await unwrap(
      platform.operator.GET('/api/v1/admin/audit-logs', { params: { query: { action: 'lab.faults_set' } } }),
    );
    expect(logs.items).toHaveLength(3);
  }, 180_000);

  it('a cut network is seen from outside alone, and can be mended all the same', async () => {
    await set(['network_cut']);
    const observed = async () => (await node()).states.observed;
    await expect.poll(observed, deadline).toBe('unreachable');
    await set([]);
    await expect.poll(observed, deadline).toBe('healthy');
  }, 240_000);

  it('those that happen once are gone when they have happened', async () => {
    const before = (await node()).boot_id;
    await set(['host_reboot']);
    await expect.poll(async () => (await node()).boot_id, deadline).not.toBe(before);
    expect(await standing()).toEqual([]);
  }, 180_000);
});
