import { sql } from 'kysely';
import { SeededRandom } from '../../harness/seeded-random.ts';
import { keepWorkers } from './keep-workers.ts';
import { LifecycleModel } from './lifecycle-model.ts';
import { openLifecycleWorld } from './lifecycle-world.ts';

export interface LifecycleRun {
  seed: number;
  hosts: number;
  bursts: number;
  width: number;
  /** Bursts between two times that everything comes to rest. */
  settleEvery: number;
  database?: { url: string; restart(manner: 'fast' | 'immediate'): Promise<void> };
}

const POLICIES = {
  'allocations.provision_deadline_seconds': 10,
  'allocations.wipe_deadline_seconds': 10,
  'allocations.wipe_attempts': 2,
  'allocations.provision_attempts': 2,
  'allocations.stop_timeout_seconds': 0,
  'fleet.conversion_deadline_seconds': 10,
  'fleet.discovery_deadline_seconds': 10,
};

/** The seed of this run; `GPUAAS_SEED` replays one. */
export function chosenSeed(): number {
  return Number(process.env['GPUAAS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
}

/** Random operations against the model; returns the count of each. */
export async function verifyLifecycle(run: LifecycleRun): Promise<Record<string, number>> {
  console.log(`seed ${run.seed} (GPUAAS_SEED replays it)`);
  const random = new SeededRandom(run.seed);
  const world = await openLifecycleWorld({
    nodes: run.hosts,
    policies: POLICIES,
    ...(run.database ? { databaseUrl: run.database.url } : {}),
  });
  const { organizationId, projectId } = world.api.people['other']!;
  await sql`insert into quota_limits (organization_id, holder_type, holder_id, measure, unit, set_by, amount)
    values (${organizationId}, 'project', ${projectId}, 'gpus', 'H200-SXM-141GB', 'platform', 10)`.execute(
    world.api.services.db,
  );
  const workers = keepWorkers(2, world.env);
  const model = new LifecycleModel(world, workers, random);
  model.startTicks();
  try {
    for (let burst = 1; burst <= run.bursts; burst += 1) {
      if (run.database && burst % run.settleEvery === Math.ceil(run.settleEvery / 2)) {
        const manner = random.chance(0.5) ? 'fast' : 'immediate';
        await model.restartDuring(run.width, () => run.database!.restart(manner));
      } else await model.burst(run.width);
      if (burst % run.settleEvery !== 0) continue;
      await model.settle();
      console.log(`${burst * run.width} operations, all at rest and as the model has it`);
    }
    await model.end();
    return model.counts;
  } catch (error) {
    throw new Error(`seed ${run.seed}: ${String(error)}\n${model.describe()}`, { cause: error });
  } finally {
    await model.stop();
    await workers.stop();
    await world.stop();
  }
}
