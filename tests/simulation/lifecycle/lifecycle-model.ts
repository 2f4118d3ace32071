import { newId } from '@gpuaas/control-plane/platform/ids';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { eventually } from '../../harness/eventually.ts';
import { addDiscovery } from '../../harness/fleet/fleet.ts';
import { hearAllHosts } from './hear-all-hosts.ts';
import type { SeededRandom } from '../../harness/seeded-random.ts';
import type { Workers } from './keep-workers.ts';
import { expectInvariants } from './lifecycle-invariants.ts';
import type { LifecycleWorld } from './lifecycle-world.ts';
import { runTicks, type Ticks } from './run-ticks.ts';
import { listWorkInProgress } from './list-work-in-progress.ts';

type Shape = 'gpu_slice' | 'baremetal';

/** The model's view of an allocation: the request, and possible faults on the way. */
interface Known {
  id: string;
  person: string;
  gpus: number;
  shape: Shape;
  wish: 'active' | 'released';
  /** Its host was cut off or set to fail, or the database went down, before it was seen active. */
  mayFail: boolean;
  seenActive: boolean;
  forced: boolean;
}

interface Answer {
  status: number;
  body: { id?: string; state?: string; code?: string };
}

const SIZES = [1, 1, 1, 2, 2, 4, 8];
const PEOPLE = ['member', 'member', 'other'];
const SETTLE_MS = 180_000;

/**
 * All operations on allocations and hosts, at random and concurrently, beside a model of the requests.
 * Invariants hold at any moment; every so often all work is brought to rest, and then rows, hosts and model
 * must match.
 */
export class LifecycleModel {
  readonly #world: LifecycleWorld;
  readonly #workers: Workers;
  readonly #random: SeededRandom;
  readonly #known = new Map<string, Known>();
  readonly #draining = new Set<string>();
  readonly #disabled = new Set<string>();
  readonly #cut = new Set<string>();
  /** One operator action at a time on a host: two concurrent ones would make the result ambiguous. */
  readonly #busy = new Set<string>();
  #ticks: Ticks | null = null;
  readonly trace: string[] = [];
  readonly counts: Record<string, number> = {};

  constructor(world: LifecycleWorld, workers: Workers, random: SeededRandom) {
    this.#world = world;
    this.#workers = workers;
    this.#random = random;
  }

  startTicks(): void {
    this.#ticks = runTicks(this.#world.api.services, (what) => this.#note(what));
  }

  async stop(): Promise<void> {
    await this.#ticks?.stop();
  }

  /** Several concurrent operations, then all invariants. */
  async burst(width: number): Promise<void> {
    this.#busy.clear();
    await Promise.all(Array.from({ length: width }, () => this.#anything()));
    await this.#seeActive();
    await expectInvariants(this.#world);
  }

  /** While the database is down, operations wait and are repeated with the same key. */
  async restartDuring(width: number, restart: () => Promise<void>): Promise<void> {
    for (const known of this.#known.values()) known.mayFail ||= !known.seenActive;
    const before = new Set(this.#known.keys());
    this.#busy.clear();
    await Promise.all([restart(), ...Array.from({ length: width }, () => this.#anything())]);
    for (const known of this.#known.values()) known.mayFail ||= !before.has(known.id);
    this.#count('database restarted');
  }

  /** Brings everything to rest and holds rows and hosts against the model. */
  async settle(): Promise<void> {
    for (const nodeId of this.#world.nodeIds) await this.#mend(nodeId);
    this.#world.hosts.calm();
    await hearAllHosts(this.#db, SETTLE_MS);
    await this.#rest();
    await this.#repairConversions();
    await this.#rest();
    await this.#compare();
    await this.#launchAlone();
    await expectInvariants(this.#world);
  }

  /** Releases all that is left; then nothing may be left. */
  async end(): Promise<void> {
    for (const known of this.#known.values()) if (known.wish === 'active') await this.#release(known);
    await this.settle();
    for (const known of this.#known.values()) if (known.wish === 'active') await this.#release(known);
    await this.#rest();
    await this.#compare();
    await this.#convertAlone();
    await this.#world.expectCleanEnd(SETTLE_MS);
  }

  async #anything(): Promise<void> {
    const dice = this.#random.next() * 100;
    if (dice < 32) return void (await this.#launch(this.#random.pick(SIZES), 'gpu_slice'));
    if (dice < 36) return void (await this.#launch(8, 'baremetal'));
    if (dice < 58) return await this.#withOne('active', (known) => this.#release(known));
    if (dice < 63) return await this.#withOne('active', (known) => this.#releaseDirty(known));
    if (dice < 66) return await this.#withOne('released', (known) => this.#retryRelease(known));
    if (dice < 69) return await this.#withOne('active', (known) => this.#forceRelease(known));
    if (dice < 72) return await this.#withOne('active', (known) => this.#extend(known));
    if (dice < 78) return await this.#onNode((nodeId) => this.#drainOrResume(nodeId));
    if (dice < 82) return await this.#onNode((nodeId) => this.#disable(nodeId));
    if (dice < 87) return await this.#onNode((nodeId) => this.#approve(nodeId));
    if (dice < 91) return await this.#onNode(async (nodeId) => void (await this.#convert(nodeId)));
    if (dice < 96) return await this.#onNode((nodeId) => this.#cutOrMend(nodeId));
    if (dice < 98) return await this.#onNode(async (nodeId) => this.#reboot(nodeId));
    this.#note('kill a worker');
    this.#count('worker killed');
    this.#workers.killOne();
  }

  async #launch(gpus: number, shape: Shape, alone = false): Promise<number> {
    const person = this.#random.pick(PEOPLE);
    const queue = !alone && this.#random.chance(0.5);
    const fails = !alone && this.#random.chance(0.12);
    const { status, body } = await this.#ask(person, '/allocations', {
      project_id: this.#world.api.people[person]!.projectId,
      sku: shape === 'baremetal' ? 'h200-sxm-baremetal' : 'h200-sxm-slice',
      gpu_count: gpus,
      image: 'H200-ubuntu-24.04-gpuaas-slice',
      region: 'uae-north-1',
      when_unavailable: queue ? 'queue' : 'fail',
    });
    if (status === 409 || status === 403) this.#count(`launch ${body.code}`);
    else expect(status, JSON.stringify(body)).toBe(202);
    if (status !== 202) return status;
    const id = body.id!;
    this.#count(`launch ${body.state}`);
    const known = { id, person, gpus, shape, wish: 'active', forced: false, seenActive: false } as const;
    this.#known.set(id, { ...known, mayFail: fails || this.#cut.size > 0 });
    if (fails) {
      this.#count('launch made to fail');
      const task = shape === 'baremetal' ? 'allocation.provision_user' : 'slice.vm_provision';
      this.#world.hosts.mood(id, task, 'fails');
    }
    return status;
  }

  async #release(known: Known): Promise<void> {
    const { status, body } = await this.#ask(known.person, `/allocations/${known.id}/release`);
    if (status === 409) return this.#mustHaveFailed(known, body);
    expect(status, JSON.stringify(body)).toBe(202);
    known.wish = 'released';
    this.#count('release');
  }

  async #releaseDirty(known: Known): Promise<void> {
    const task = known.shape === 'baremetal' ? 'allocation.deprovision_user' : 'slice.vm_release';
    this.#world.hosts.mood(known.id, task, 'dirty', this.#random.between(1, 3));
    this.#count('release made dirty');
    await this.#release(known);
  }

  async #retryRelease(known: Known): Promise<void> {
    const { status, body } = await this.#ask(known.person, `/allocations/${known.id}/retry-release`);
    expect([202, 409], JSON.stringify(body)).toContain(status);
    this.#count(`retry ${status}`);
  }

  async #forceRelease(known: Known): Promise<void> {
    const path = `/admin/allocations/${known.id}/force-release`;
    const { status, body } = await this.#ask('operator', path, { reason: 'model' });
    if (status === 409) return this.#mustHaveFailed(known, body);
    expect(status, JSON.stringify(body)).toBe(200);
    known.forced = true;
    known.wish = 'released';
    this.#count('force-release');
  }

  #mustHaveFailed(known: Known, body: Answer['body']): void {
    expect(body, `${known.id} ended without a release`).toMatchObject({ code: 'allocation_not_releasable' });
    expect(known.mayFail || known.wish === 'released', `${known.id} had no reason to end`).toBe(true);
    known.wish = 'released';
  }

  async #extend(known: Known): Promise<void> {
    const { status, body } = await this.#ask(known.person, `/allocations/${known.id}/extend`, {
      additional_seconds: 600,
    });
    expect([200, 409], JSON.stringify(body)).toContain(status);
  }

  async #drainOrResume(nodeId: string): Promise<void> {
    const drained = this.#draining.has(nodeId);
    const path = `/admin/nodes/${nodeId}/${drained ? 'resume' : 'drain'}`;
    const { status, body } = await this.#ask('operator', path, drained ? undefined : { reason: 'model' });
    expect(status, JSON.stringify(body)).toBeLessThan(300);
    if (drained) this.#draining.delete(nodeId);
    else this.#draining.add(nodeId);
    this.#count(drained ? 'resume' : 'drain');
  }

  async #disable(nodeId: string): Promise<void> {
    const slotId = this.#random.pick(await this.#slotsOf(nodeId));
    const path = `/admin/nodes/${nodeId}/resource-slots/${slotId}/disable`;
    const { status, body } = await this.#ask('operator', path, { reason: 'model' });
    if (status === 409) return;
    expect(status, JSON.stringify(body)).toBe(200);
    this.#disabled.add(slotId);
    this.#count('disable');
  }

  async #approve(nodeId: string): Promise<void> {
    const slotIds = await this.#slotsOf(nodeId);
    const found = [...this.#world.hosts.host(nodeId).candidates];
    const discovery_task_id = await this.#persist(() => addDiscovery(this.#world.api, nodeId, found));
    const isWhole = this.#world.hosts.host(nodeId).mode === 'baremetal';
    const [path, request] = isWhole
      ? ['whole-node-offer', { discovery_task_id }]
      : ['resource-slots/approve', { discovery_task_id, destructive_wipe_policy: 'blkdiscard' }];
    const { status, body } = await this.#ask('operator', `/admin/nodes/${nodeId}/${path}`, request);
    expect([200, 409, 422], JSON.stringify(body)).toContain(status);
    if (status === 200) for (const slotId of slotIds) this.#disabled.delete(slotId);
    this.#count(`approve ${status}`);
  }

  async #convert(nodeId: string): Promise<number> {
    const mode = this.#world.hosts.host(nodeId).mode === 'slice' ? 'baremetal' : 'slice';
    if (this.#random.chance(0.2)) this.#world.hosts.mood(nodeId, 'node.set_mode', 'fails', 1);
    const { status, body } = await this.#ask('operator', `/admin/nodes/${nodeId}/convert`, {
      mode,
      reason: 'model',
    });
    expect([202, 409], JSON.stringify(body)).toContain(status);
    this.#count(`convert ${status}`);
    return status;
  }

  async #cutOrMend(nodeId: string): Promise<void> {
    if (this.#cut.has(nodeId)) return await this.#mend(nodeId);
    this.#note(`cut ${nodeId}`);
    this.#world.hosts.host(nodeId).cut = true;
    this.#cut.add(nodeId);
    for (const known of this.#known.values()) known.mayFail ||= !known.seenActive;
    this.#count('cut');
  }

  async #mend(nodeId: string): Promise<void> {
    if (!this.#cut.delete(nodeId)) return;
    this.#note(`mend ${nodeId}`);
    this.#count('mend');
    this.#world.hosts.host(nodeId).cut = false;
  }

  async #reboot(nodeId: string): Promise<void> {
    this.#note(`reboot ${nodeId}`);
    this.#world.hosts.host(nodeId).reboot();
    this.#count('reboot');
  }

  /** Without concurrent work, a launch succeeds exactly when there is capacity. */
  async #launchAlone(): Promise<void> {
    const gpus = this.#random.pick(SIZES);
    const room = await this.#hasRoom(gpus, 'gpu_slice');
    const status = await this.#launch(gpus, 'gpu_slice', true);
    // A quota may refuse a launch that would fit.
    if (status === 202 || !room) expect(status, `${gpus} GPUs, room: ${room}`).toBe(room ? 202 : 409);
    else expect(this.trace.at(-1)).toContain('quota_exceeded');
  }

  /** A host without claims is always converted on request. */
  async #convertAlone(): Promise<void> {
    for (const nodeId of this.#world.nodeIds) expect(await this.#convert(nodeId), nodeId).toBe(202);
    await this.#rest();
    this.#world.hosts.calm();
    await this.#repairConversions();
    await this.#rest();
    await this.#compare();
  }

  async #hasRoom(gpus: number, shape: Shape): Promise<boolean> {
    const { rows } = await sql`
      select n.id from nodes n join node_resource_slots s on s.node_id = n.id and s.state = 'available'
      where not n.draining and n.mode = ${shape === 'baremetal' ? 'baremetal' : 'slice'}
        and not exists (select from node_cordons c where c.node_id = n.id)
        and n.last_heartbeat_at > now() - interval '15 seconds'
        and not exists (select from allocation_resource_claims c
          where c.node_id = n.id and c.released_at is null and c.claim_kind = 'node_exclusive')
      group by n.id having count(*) >= ${gpus}`.execute(this.#db);
    return rows.length > 0;
  }

  /**
   * Waits until no work is in flight, and a whole round of periodic work has found nothing to start either.
   */
  async #rest(): Promise<void> {
    do {
      await eventually('everything to come to rest', () => this.#atRest(), SETTLE_MS);
      const before = this.#ticks!.rounds();
      await eventually(
        'periodic work',
        async () => (this.#ticks!.rounds() >= before + 2 ? true : null),
        SETTLE_MS,
      );
    } while (!(await this.#atRest()));
  }

  /** True when no work is in flight. */
  async #atRest(): Promise<true | null> {
    this.#underWay = await listWorkInProgress(this.#db);
    return this.#underWay.length === 0 ? true : null;
  }

  #underWay: string[] = [];

  async #repairConversions(): Promise<void> {
    const stuck = await this.#db
      .selectFrom('node_cordons')
      .select('node_id')
      .where('reason', '=', 'conversion')
      .execute();
    for (const { node_id } of stuck) {
      const body = { mode: 'slice', reason: 'repair' };
      const answer = await this.#ask('operator', `/admin/nodes/${node_id}/convert`, body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(202);
    }
  }

  async #seeActive(): Promise<void> {
    const rows = await this.#persist(() =>
      this.#db.selectFrom('allocations').select('id').where('state', '=', 'active').execute(),
    );
    for (const { id } of rows) {
      const known = this.#known.get(id);
      if (known) known.seenActive = true;
    }
  }

  async #compare(): Promise<void> {
    const rows = await this.#db.selectFrom('allocations').selectAll().execute();
    expect(rows.map(({ id }) => id).toSorted()).toEqual([...this.#known.keys()].toSorted());
    const running: string[] = [];
    for (const { id, state, node_id, failure } of rows) {
      const known = this.#known.get(id)!;
      expect(this.#endsOf(known), `${id} ${JSON.stringify({ ...known, failure })}`).toContain(state);
      if (state === 'active') {
        known.seenActive = true;
        running.push(`${node_id} runs ${id}`);
      }
      if (state === 'queued') await this.#expectNoRoomFor(known);
    }
    expect(this.#world.hosts.machines().toSorted(), 'machines on hosts').toEqual(running.toSorted());
    await this.#compareSlots();
    await this.#compareNodes();
  }

  #endsOf({ wish, mayFail, forced }: Known): string[] {
    const ends = wish === 'active' ? ['active', 'queued'] : ['released'];
    return mayFail || forced ? [...ends, 'failed'] : ends;
  }

  /** No launch waits for existing capacity; a quota may be the reason. */
  async #expectNoRoomFor({ id, gpus, shape }: Known): Promise<void> {
    const standing = await this.#db
      .selectFrom('queued_launches')
      .select(['reason', 'detail'])
      .where('allocation_id', '=', id)
      .executeTakeFirstOrThrow();
    if (standing.reason === 'quota') return;
    expect(await this.#hasRoom(gpus, shape), `${id} waits for ${gpus}: ${standing.detail}`).toBe(false);
  }

  async #compareSlots(): Promise<void> {
    const { rows } = await sql<{
      id: string;
      state: string;
      desired: string;
      kind: string | null;
      allocation: string | null;
    }>`
      select s.id, s.state, s.desired_state as desired, c.claim_kind as kind, a.state as allocation
      from node_resource_slots s
        left join allocation_resource_claims c on c.released_at is null
          and (c.slot_id = s.id or (c.slot_id is null and c.node_id = s.node_id))
        left join allocations a on a.id = c.allocation_id`.execute(this.#db);
    for (const { id, state, desired, kind, allocation } of rows) {
      if (kind === 'slot') expect([state, allocation], id).toEqual(['in_use', 'active']);
      else if (kind) expect(['in_use', 'disabled', 'available'], id).toContain(state);
      else expect(state, id).toBe(desired === 'for_sale' ? 'available' : 'disabled');
      if (this.#disabled.has(id)) expect(state, `${id} was disabled`).not.toBe('available');
    }
    const { rows: held } = await sql<{ id: string; gpus: number; claims: number; nodes: number }>`
      select a.id, case a.capacity_shape when 'baremetal' then 1 else a.gpu_count end as gpus,
        count(c.id)::int as claims, count(distinct c.node_id)::int as nodes
      from allocations a left join allocation_resource_claims c on c.allocation_id = a.id and c.released_at is null
      where a.state = 'active' group by a.id`.execute(this.#db);
    for (const { id, gpus, claims, nodes } of held) expect([claims, nodes], id).toEqual([gpus, 1]);
  }

  async #compareNodes(): Promise<void> {
    const nodes = await this.#db.selectFrom('nodes').select(['id', 'mode', 'draining']).execute();
    for (const { id, mode, draining } of nodes) {
      expect([id, mode, draining]).toEqual([id, this.#world.hosts.host(id).mode, this.#draining.has(id)]);
    }
    expect(await this.#db.selectFrom('node_cordons').selectAll().execute()).toEqual([]);
  }

  async #withOne(wish: Known['wish'], act: (known: Known) => Promise<void>): Promise<void> {
    const some = [...this.#known.values()].filter((known) => known.wish === wish && !known.forced).slice(-40);
    if (some.length > 0) await act(this.#random.pick(some));
  }

  async #onNode(act: (nodeId: string) => Promise<void>): Promise<void> {
    const nodeId = this.#random.pick(this.#world.nodeIds);
    if (this.#busy.has(nodeId)) return;
    this.#busy.add(nodeId);
    await act(nodeId);
  }

  async #slotsOf(nodeId: string): Promise<string[]> {
    const rows = await this.#persist(() =>
      this.#db
        .selectFrom('node_resource_slots')
        .select('id')
        .where('node_id', '=', nodeId)
        .orderBy('slot_index')
        .execute(),
    );
    return rows.map(({ id }) => id);
  }

  /** Repeats the request until there is a response; the key makes it idempotent. */
  async #ask(person: string, url: string, payload?: object): Promise<Answer> {
    const { server, people } = this.#world.api;
    const headers = { authorization: `Bearer ${people[person]!.apiKey}`, 'x-idempotency-key': newId() };
    return await eventually(`an answer to ${url}`, async () => {
      const answer = await server.inject({
        method: 'POST',
        url: `/api/v1${url}`,
        headers,
        ...(payload ? { payload } : {}),
      });
      const body = answer.body ? answer.json<Answer['body']>() : {};
      this.#note(`${url} ${JSON.stringify(payload ?? {})} -> ${answer.statusCode} ${body.code ?? ''}`);
      return answer.statusCode >= 500 ? null : { status: answer.statusCode, body };
    });
  }

  async #persist<T>(read: () => Promise<T>): Promise<T> {
    return await eventually('the database', () => read().catch(() => null));
  }

  get #db() {
    return this.#world.api.services.db;
  }

  #note(what: string): void {
    this.trace.push(`${new Date().toISOString()} ${what}`);
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** For debugging: work in flight, and the last operations. */
  describe(): string {
    return [...this.#underWay.slice(0, 20), ...this.trace.slice(-60)].join('\n');
  }
}
