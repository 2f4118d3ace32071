/**
 * Many app instances at work: how many start each second, and what it costs to observe them. Control plane and database
 * are one number; hosts and guests are another, because in production they are other machines. `npm run bench:apps`;
 * `BENCH_GUESTS`, `BENCH_MEMBERS` (of each guest) and `BENCH_SECONDS` change its size.
 */
import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { launch, waitForState } from '../harness/allocations/allocations.ts';
import { publish, runApp, shellManifest } from '../harness/apps/apps.ts';
import { eventually } from '../harness/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';
import { setup } from '../setup/global-setup.ts';
import { processorSeconds, processorSecondsBelow, processorSecondsOf } from './processor-seconds.ts';

const GUESTS = Number(process.env['BENCH_GUESTS'] ?? 100);
const MEMBERS = Number(process.env['BENCH_MEMBERS'] ?? 3);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
const GPUS_PER_HOST = 8;
const TARGET_CORES = 0.3;
const SETTLE_MS = 20_000;
const START_MS = 1_200_000;

const stops: (() => Promise<unknown>)[] = [await setup()];
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stopAll(1));
try {
  await measure();
} finally {
  await stopAll(process.exitCode ?? 0);
}

/** Hundreds of processes must not outlive a bench that is called off. */
async function stopAll(code: number | string): Promise<void> {
  for (const stop of stops.splice(0).toReversed()) await stop();
  process.exit(code);
}

async function measure(): Promise<void> {
  const members = GUESTS * MEMBERS;
  const platform = await startTestPlatform({ nodes: Math.ceil(GUESTS / GPUS_PER_HOST) });
  stops.push(() => platform.stop());
  const allocations = await launchMachines(platform);
  await pause(SETTLE_MS);
  print('before any app', await useOver(platform));

  await publish(platform.operator, 'bench', shellManifest('exec sleep 100000', { kind: 'service' }));
  const began = performance.now();
  await startApps(platform, allocations);
  const seconds = (performance.now() - began) / 1000;
  console.log(
    `${members} instances on ${GUESTS} guests started in ${seconds.toFixed(0)} s: ` +
      `${(members / seconds).toFixed(1)} each second, load ${load()}`,
  );

  await pause(SETTLE_MS);
  const use = await useOver(platform);
  print(`while ${members} members are observed every ${interval(platform)} s`, use);
  const cores = use.controlPlane + use.database;
  const late = await countLate(platform);
  console.log(`members not observed within two intervals: ${late}`);
  console.log(
    `control plane and database together: ${cores.toFixed(2)} of a core, ` +
      `${cores <= TARGET_CORES ? 'meets' : 'misses'} the target of ${TARGET_CORES}`,
  );
  if (late > 0 || cores > TARGET_CORES) process.exitCode = 1;
}

async function launchMachines({ member, projectId }: TestPlatform): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < GUESTS; index += 1) ids.push((await launch(member, projectId, 1)).id);
  for (const id of ids) await waitForState(member, id, 'active', START_MS);
  return ids;
}

/** Until every one of them runs. */
async function startApps(platform: TestPlatform, allocations: readonly string[]): Promise<void> {
  const { member, projectId, services } = platform;
  for (let turn = 0; turn < MEMBERS; turn += 1)
    for (const allocation_id of allocations)
      await runApp(member, { project_id: projectId, app_slug: 'bench', allocation_id });
  const total = MEMBERS * allocations.length;
  let reported = 0;
  await eventually(
    'running instances',
    async () => {
      const { rows } = await sql<{ count: bigint }>`
        select count(*) from app_instances where status = 'running'`.execute(services.db);
      const running = Number(rows[0]?.count);
      if (running >= reported + 50) console.log(`${(reported = running)} of ${total} run, load ${load()}`);
      return running === total ? true : null;
    },
    START_MS,
  );
}

interface Use {
  controlPlane: number;
  database: number;
  hosts: number;
}

/** Cores in use, as the mean of the measured time. */
async function useOver(platform: TestPlatform): Promise<Use> {
  const { rows } = await sql<{ data_directory: string }>`show data_directory`.execute(platform.services.db);
  const dataDirectory = rows[0]?.data_directory ?? '';
  const read = (): Use => ({
    controlPlane: processorSecondsOf(process.pid).own,
    database: processorSeconds(dataDirectory),
    hosts: hostSeconds(platform),
  });
  const before = read();
  const began = performance.now();
  await pause(SECONDS * 1000);
  const after = read();
  const elapsed = (performance.now() - began) / 1000;
  return {
    controlPlane: (after.controlPlane - before.controlPlane) / elapsed,
    database: (after.database - before.database) / elapsed,
    hosts: (after.hosts - before.hosts) / elapsed,
  };
}

/** Agents and everything below them: guests that run, and commands in them that have ended. */
function hostSeconds({ fleet }: TestPlatform): number {
  const agents = fleet.nodes.flatMap((node) => node.pid() ?? []);
  if (agents.length < fleet.nodes.length) throw new Error('an agent has ended');
  return processorSecondsBelow(agents);
}

async function countLate(platform: TestPlatform): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from app_instance_members
    where observed_at is null or observed_at < now() - make_interval(secs => ${2 * interval(platform)})`.execute(
    platform.services.db,
  );
  return Number(rows[0]?.count);
}

function interval({ services }: TestPlatform): number {
  return services.policies.get('apps.observe_interval_seconds');
}

function print(when: string, { controlPlane, database, hosts }: Use): void {
  console.log(
    `${when}: control plane ${controlPlane.toFixed(2)}, database ${database.toFixed(2)}, ` +
      `hosts and guests ${hosts.toFixed(2)} of a core; load ${load()}`,
  );
}

function load(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
