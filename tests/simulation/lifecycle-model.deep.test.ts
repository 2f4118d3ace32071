import { afterAll, beforeAll, expect, it } from 'vitest';
import { startRestartablePostgres, type RestartablePostgres } from '../harness/restartable-postgres.ts';
import { chosenSeed, proveLifecycle } from './prove-lifecycle.ts';

let database: RestartablePostgres;
beforeAll(async () => {
  database = await startRestartablePostgres();
}, 120_000);
afterAll(() => database?.stop());

/** Eight operations each, a restart of the database in every thirty; GPUAAS_MODEL_BURSTS=240 is a soak of thousands. */
const BURSTS = Number(process.env['GPUAAS_MODEL_BURSTS'] ?? 60);
const SETTLE_EVERY = 30;

it('random operations, killed workers and a database that restarts: the model holds', async () => {
  const counts = await proveLifecycle({
    seed: chosenSeed(),
    hosts: 4,
    bursts: BURSTS,
    width: 8,
    settleEvery: SETTLE_EVERY,
    database,
  });
  console.log(counts);
  for (const happened of [
    'launch queued',
    'release',
    'convert 202',
    'cut',
    'worker killed',
    'force-release',
  ]) {
    expect(counts[happened], happened).toBeGreaterThan(0);
  }
  expect(counts['database restarted']).toBe(BURSTS / SETTLE_EVERY);
}, 1_500_000);
