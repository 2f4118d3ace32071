import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect } from 'vitest';
import type { PolicyName } from '@gpuaas/contracts/generated/policies.ts';
import { admitWaiting } from '@gpuaas/control-plane/domains/apps/instances/admit-waiting';
import { followAllocations } from '@gpuaas/control-plane/domains/apps/instances/follow-allocations';
import { startObserver } from '@gpuaas/control-plane/domains/apps/runtime/observer';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import type { Policies } from '@gpuaas/control-plane/platform/policy/policies';
import { shellManifest } from '../../harness/apps/apps.ts';
import { awayFile, localGuests } from '../../harness/apps/local-guests.ts';
import type { LifecycleWorld } from '../lifecycle/lifecycle-world.ts';
import type { AppKind, SeenApp } from './app-model.ts';

export const APP_POLICIES = {
  'apps.observe_interval_seconds': 1,
  'apps.unreachable_seconds': 2,
  'apps.stop_timeout_seconds': 5,
};

const SCRIPTS: Record<AppKind, string> = {
  service: 'exec sleep 600',
  succeeds: 'sleep 0.3',
  fails: 'sleep 0.3; exit 3',
};
const TICK_MS = 300;

/** Machines as folders, the platform's loops for apps in this process, and what a tenant does. */
export class AppWorld {
  readonly #world: LifecycleWorld;
  readonly #folder: string;
  readonly #stopping = new AbortController();
  #loops: (() => Promise<void>)[] = [];

  constructor(world: LifecycleWorld) {
    this.#world = world;
    this.#folder = join(world.api.dataDir, 'guests');
  }

  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    for (const kind of Object.keys(SCRIPTS) as AppKind[]) {
      const path = `/admin/app-manifests/${kind}/versions`;
      const manifest = shellManifest(SCRIPTS[kind], { kind: kind === 'service' ? 'service' : 'job' });
      expect(await this.#world.post('operator', path, manifest)).toBe(201);
      expect(await this.#world.post('operator', `${path}/1/activate`)).toBe(200);
    }
    const { services } = this.#world.api;
    const own: Partial<Record<PolicyName, never>> = JSON.parse(JSON.stringify(APP_POLICIES));
    const policies: Policies = {
      get: (key, scope) => own[key] ?? services.policies.get(key, scope),
      explain: (key, scope, value) => services.policies.explain(key, scope, value),
      refresh: () => services.policies.refresh(),
    };
    const guests = localGuests(this.#folder);
    const observer = startObserver(servicesAsRole({ ...services, policies, guests }, 'gpuaas_app_runtime'));
    const worker = servicesAsRole({ ...services, policies }, 'gpuaas_worker');
    const ticking = this.#tick(async () => {
      const period = { from: services.clock.now(), to: services.clock.now() };
      for (const tick of [admitWaiting, followAllocations]) await tick.run(worker, period);
    });
    this.#loops = [() => observer.stop(), () => ticking];
  }

  async #tick(run: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await run();
      await pause(TICK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Starts an instance; returns its id. */
  async start(kind: AppKind, allocation_id: string): Promise<string> {
    const { server, people } = this.#world.api;
    const { apiKey, projectId } = people['member']!;
    const answer = await server.inject({
      method: 'POST',
      url: '/api/v1/app-instances',
      headers: { authorization: `Bearer ${apiKey}` },
      payload: { project_id: projectId, app_slug: kind, allocation_id },
    });
    expect(answer.statusCode, answer.body).toBe(202);
    return answer.json<{ id: string }>().id;
  }

  async stop(id: string): Promise<void> {
    expect(await this.#world.post('member', `/app-instances/${id}/stop`)).toBe(202);
  }

  /** The tenant kills the program; whether there was one. */
  async kill(id: string): Promise<boolean> {
    const pids = processes('MEMBER').get(await this.#memberOf(id)) ?? [];
    for (const pid of pids) kill(pid);
    return pids.length > 0;
  }

  /** The tenant deletes the folder of the platform. */
  async deleteFiles(machine: string): Promise<void> {
    const everything = { recursive: true, force: true, maxRetries: 5 };
    // A start that is under way may put files there faster.
    await rm(join(this.#folder, machine, '.gpuaas'), everything).catch(() => undefined);
  }

  async setAway(machine: string, away: boolean): Promise<void> {
    const file = awayFile(this.#folder, machine);
    await (away ? writeFile(file, '') : rm(file, { force: true }));
  }

  async setQuota(limit: number): Promise<void> {
    const { organizationId, projectId } = this.#world.api.people['member']!;
    await sql`insert into quota_limits (organization_id, holder_type, holder_id, measure, unit, set_by, amount)
      values (${organizationId}, 'project', ${projectId}, 'app_instances', '', 'platform', ${limit})
      on conflict (organization_id, holder_type, holder_id, measure, unit, set_by)
      do update set amount = excluded.amount`.execute(this.#world.api.services.db);
  }

  /** Every instance, and how many hold quota, of one moment. */
  async look(): Promise<{ apps: Map<string, SeenApp>; holders: number }> {
    const { rows } = await sql<Omit<SeenApp, 'processes'> & { member: string }>`
      select i.id, i.status, i.reason, i.gate ->> 'gate' as gate, m.id as member,
        case when m.teardown is null then 'open' else 'proved' end as teardown,
        (select array_agg(e.event_type order by e.position) from app_instance_events e
          where e.instance_id = i.id) as events
      from app_instances i join app_instance_members m on m.instance_id = i.id`.execute(
      this.#world.api.services.db,
    );
    const [own, keepers] = [processes('MEMBER'), processes('RUNNER')];
    const count = (member: string): number =>
      (own.get(member)?.length ?? 0) + (keepers.get(member)?.length ?? 0);
    const holders = rows.filter(({ status }) => ['starting', 'running', 'stopping'].includes(status)).length;
    return { apps: new Map(rows.map((row) => [row.id, { ...row, processes: count(row.member) }])), holders };
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    for (const end of this.#loops) await end();
    // A run that failed leaves no process behind.
    const members = await this.#world.api.services.db
      .selectFrom('app_instance_members')
      .select('id')
      .execute();
    for (const { id } of members)
      for (const mark of ['MEMBER', 'RUNNER'] as const) processes(mark).get(id)?.forEach(kill);
  }

  async #memberOf(instanceId: string): Promise<string> {
    const row = await this.#world.api.services.db
      .selectFrom('app_instance_members')
      .select('id')
      .where('instance_id', '=', instanceId)
      .executeTakeFirstOrThrow();
    return row.id;
  }
}

/** Processes of this machine that are marked as those of a member, by member. */
function processes(mark: 'MEMBER' | 'RUNNER'): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const name = `GPUAAS_${mark}=`;
    const marked = environment(pid).find((entry) => entry.startsWith(name));
    if (!marked) continue;
    const member = marked.slice(name.length);
    found.set(member, [...(found.get(member) ?? []), Number(pid)]);
  }
  return found;
}

/** Empty for a process that has ended and was not waited for. */
function environment(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended since.
  }
}
