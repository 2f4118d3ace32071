import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  startRestartablePostgres,
  type RestartablePostgres,
} from '../../harness/servers/restartable-postgres.ts';
import { chosenSeed, verifyLifecycle } from './verify-lifecycle.ts';

let database: RestartablePostgres;
beforeAll(async () => {
  database = await startRestartablePostgres();
}, 120_000);
afterAll(() => database?.stop());

/** Eight operations each, a restart of the database in every 32: 2,560 operations and ten restarts. */
const BURSTS = 320;
const SETTLE_EVERY = 32;

/** Every kind of operation must have happened; a seed that skips one did not test it. */
const HAPPENED = [
  'launch reserved',
  'launch queued',
  'launch made to fail',
  'release',
  'release made dirty',
  'force-release',
  'drain',
  'resume',
  'disable',
  'approve 200',
  'convert 202',
  'cut',
  'mend',
  'reboot',
  'worker killed',
];

it('thousands of random operations, killed workers and a database that restarts: the model holds', async () => {
  const counts = await verifyLifecycle({
    seed: chosenSeed(),
    hosts: 6,
    bursts: BURSTS,
    width: 8,
    settleEvery: SETTLE_EVERY,
    database,
  });
  console.log(counts);
  for (const happened of HAPPENED) expect(counts[happened], happened).toBeGreaterThan(0);
  expect(counts['database restarted']).toBe(BURSTS / SETTLE_EVERY);
}, 1_200_000);
