import { afterAll, beforeAll, expect, it } from 'vitest';
import { startRestartablePostgres, type RestartablePostgres } from '../harness/restartable-postgres.ts';
import { chosenSeed, proveLifecycle } from './prove-lifecycle.ts';

let database: RestartablePostgres;
beforeAll(async () => {
  database = await startRestartablePostgres();
}, 120_000);
afterAll(() => database?.stop());

it('thousands of random operations, killed workers and a database that restarts: the model holds', async () => {
  const counts = await proveLifecycle({
    seed: chosenSeed(),
    hosts: 4,
    bursts: 250,
    width: 8,
    settleEvery: 50,
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
  expect(counts['database restarted']).toBe(5);
}, 1_500_000);
