import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { startApiProcess, type ApiProcess } from '../../harness/processes/api-processes.ts';
import { PlacementModel, seededRandom } from '../../harness/allocations/placement-model.ts';

let api: TestApi;
let other: ApiProcess;
beforeAll(async () => {
  api = await createTestApi();
  await sql`update sku_catalog set enabled = true`.execute(api.services.db);
  other = await startApiProcess(api.databaseUrl, api.dataDir);
});
afterAll(async () => {
  await other?.kill();
  await api?.stop();
});

it('two processes lease nothing twice and refuse nothing that fits, during operator changes', async () => {
  const seed = Number(process.env['GPUAAS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed}`);
  const model = new PlacementModel(api, [other], seededRandom(seed));
  await model.addHosts();
  for (let round = 0; round < 8; round += 1) {
    await model.burst(6);
    await model.launchAlone();
  }
  expect(model.counts.sold).toBeGreaterThan(0);
});
