import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { launchBody } from '../../harness/allocations/allocations.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { startApiProcess, type ApiProcess } from '../../harness/processes/api-processes.ts';
import { addHost, claimDefects } from '../../harness/fleet/fleet-rows.ts';
import { PlacementModel, seededRandom } from '../../harness/allocations/placement-model.ts';

let api: TestApi;
let processes: ApiProcess[] = [];
beforeAll(async () => {
  api = await createTestApi();
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
}, 120_000);
afterAll(() => api?.stop());
afterEach(async () => {
  await Promise.all(processes.map((process) => process.kill()));
  // The next model explains refusals by its own hosts: those of this one are full and drained, so never the only reason.
  await sql`update node_resource_slots set state = 'disabled' where state = 'available'`.execute(
    api.services.db,
  );
  await sql`update nodes set draining = true`.execute(api.services.db);
});

const start = () => startApiProcess(api.databaseUrl, api.dataDir);

const first = Number(process.env['GPUAAS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

it.each([first, first + 1, first + 2])(
  'holds with three processes, one of which is killed (seed %i)',
  async (seed) => {
    processes = [await start(), await start()];
    const model = new PlacementModel(api, processes, seededRandom(seed));
    await model.addHosts();
    for (let round = 0; round < 40; round += 1) {
      if (round === 20) {
        // In the middle of its launches.
        await Promise.all([model.burst(10), processes[0]!.kill()]);
        processes[0] = await start();
        await model.settle();
      }
      await model.burst(8);
      await model.launchAlone();
    }
    expect(model.counts.sold).toBeGreaterThan(30);
    expect(model.counts.refused).toBeGreaterThan(0);
  },
);

it('sells the last slot once: 200 rounds of 50 callers in three processes', async () => {
  processes = [await start(), await start()];
  const { apiKey, projectId } = api.people['member']!;
  const request = {
    method: 'POST' as const,
    url: '/api/v1/allocations',
    headers: { authorization: `Bearer ${apiKey}` },
    payload: launchBody(projectId!, 1),
  };
  const ask = async (caller: number) => {
    const process = [null, ...processes][caller % 3];
    if (process) return (await process.ask(request))!;
    const answer = await api.server.inject(request);
    return { statusCode: answer.statusCode, body: answer.json() as Record<string, unknown> };
  };
  for (let round = 0; round < 200; round += 1) {
    await addHost(api.services.db, 1);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, caller) => ask(caller)));
    expect(answers.filter(({ statusCode }) => statusCode === 202)).toHaveLength(1);
    const refused = answers.filter(({ statusCode }) => statusCode !== 202);
    expect(new Set(refused.map(({ body }) => body!['code']))).toEqual(new Set(['sku_unavailable']));
  }
  const defects = (await claimDefects(api.services.db)) as { state: string }[];
  expect(defects.filter(({ state }) => state !== 'disabled')).toEqual([]);
});
