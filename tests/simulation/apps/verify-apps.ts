import { setTimeout as pause } from 'node:timers/promises';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import { expect } from 'vitest';
import { SeededRandom } from '../../harness/seeded-random.ts';
import { keepWorkers, type Workers } from '../lifecycle/keep-workers.ts';
import { openLifecycleWorld } from '../lifecycle/lifecycle-world.ts';
import { judgeAtRest, type AppKind, type Deed, type ModelApp } from './app-model.ts';
import { APP_POLICIES, AppWorld } from './app-world.ts';

const KINDS: readonly AppKind[] = ['service', 'service', 'succeeds', 'fails'];
const REST_MS = 150_000;
const PLENTY = 1000;

export interface AppsRun {
  seed: number;
  machines: number;
  rounds: number;
  /** Operations between two times that everything comes to rest. */
  operations: number;
}

/** Random deeds of people, tenants and fate; at each rest every instance is as the model allows. Returns counts. */
export async function verifyApps(run: AppsRun): Promise<Record<string, number>> {
  console.log(`seed ${run.seed} (GPUAAS_SEED replays it)`);
  const world = await openLifecycleWorld({ nodes: 1, policies: APP_POLICIES });
  const workers = keepWorkers(1, world.env);
  const apps = new AppWorld(world);
  const model = new Play(apps, workers, new SeededRandom(run.seed));
  try {
    for (let index = 0; index < run.machines; index += 1) model.machines.push(await world.launch());
    await world.waitFor(model.machines, ['active'], REST_MS);
    await apps.open();
    for (let round = 0; round < run.rounds; round += 1) {
      for (let count = 0; count < run.operations; count += 1) await model.step();
      await model.rest();
    }
    for (const machine of model.machines) {
      model.mark('release', machine);
      expect(await world.post('member', `/allocations/${machine}/release`)).toBe(202);
    }
    await model.rest();
    expect(await verifyQuotas(world.api.services.db, 10)).toEqual([]);
    return model.counts;
  } catch (error) {
    throw new Error(`seed ${run.seed}: ${String(error)}`, { cause: error });
  } finally {
    await apps.close();
    await workers.stop();
    await world.stop();
  }
}

class Play {
  readonly machines: string[] = [];
  readonly counts: Record<string, number> = {};
  readonly #apps: ModelApp[] = [];
  readonly #away = new Set<string>();
  readonly #world: AppWorld;
  readonly #workers: Workers;
  readonly #random: SeededRandom;
  #limit = PLENTY;

  constructor(world: AppWorld, workers: Workers, random: SeededRandom) {
    this.#world = world;
    this.#workers = workers;
    this.#random = random;
  }

  /** One deed, on anything. */
  async step(): Promise<void> {
    const [random, world] = [this.#random, this.#world];
    const deed = random.pick([
      'start',
      'start',
      'start',
      'stop',
      'kill',
      'delete',
      'away',
      'back',
      'quota',
      'die',
    ]);
    this.counts[deed] = (this.counts[deed] ?? 0) + 1;
    const machine = random.pick(this.machines);
    if (deed === 'start') await this.#start(random.pick(KINDS), machine);
    if (deed === 'stop') await this.#on((app) => this.#stop(app));
    if (deed === 'kill') await this.#on((app) => this.#kill(app));
    if (deed === 'delete') {
      this.mark('delete', machine);
      await world.deleteFiles(machine);
    }
    if (deed === 'away') await this.#setAway(machine, true);
    if (deed === 'back') await this.#setAway(random.pick([...this.#away, machine]), false);
    if (deed === 'quota') await this.#setQuota(random.between(1, 4));
    if (deed === 'die') this.#workers.killOne();
    await pause(random.between(0, 400));
  }

  /** Every instance that was on the machine until now may show the deed. */
  mark(deed: Deed, machine: string): void {
    for (const app of this.#apps) if (app.machine === machine) app.deeds.add(deed);
  }

  /** Machines answer, and nothing more is asked: everything comes to where the model has it. */
  async rest(): Promise<void> {
    for (const machine of [...this.#away]) await this.#setAway(machine, false);
    const end = Date.now() + REST_MS;
    for (let faults = await this.#faults(); faults.length > 0; faults = await this.#faults()) {
      if (Date.now() > end) throw new Error(`not at rest:\n${faults.join('\n')}`);
      await pause(500);
    }
  }

  async #faults(): Promise<string[]> {
    const { apps, holders } = await this.#world.look();
    const quota = { holders, limit: this.#limit };
    return this.#apps.flatMap((app) => {
      const seen = apps.get(app.id);
      const fault = seen ? judgeAtRest(app, seen, quota) : 'is not there';
      return fault === null ? [] : [`${app.kind} ${app.id} (${[...app.deeds].join(', ')}) ${fault}`];
    });
  }

  async #start(kind: AppKind, machine: string): Promise<void> {
    const id = await this.#world.start(kind, machine);
    const deeds = new Set<Deed>(this.#away.has(machine) ? ['away'] : []);
    this.#apps.push({ id, kind, machine, deeds });
  }

  async #stop(app: ModelApp): Promise<void> {
    app.deeds.add('stop');
    await this.#world.stop(app.id);
  }

  async #kill(app: ModelApp): Promise<void> {
    if (await this.#world.kill(app.id)) app.deeds.add('kill');
  }

  async #setAway(machine: string, away: boolean): Promise<void> {
    if (away) this.#away.add(machine);
    else this.#away.delete(machine);
    if (away) this.mark('away', machine);
    await this.#world.setAway(machine, away);
  }

  async #setQuota(limit: number): Promise<void> {
    this.#limit = limit;
    await this.#world.setQuota(limit);
  }

  async #on(deed: (app: ModelApp) => Promise<void>): Promise<void> {
    if (this.#apps.length > 0) await deed(this.#random.pick(this.#apps));
  }
}
