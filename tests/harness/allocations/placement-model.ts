import { sql } from 'kysely';
import { expect } from 'vitest';
import { verifyQuotas } from '@gpuaas/control-plane/domains/quotas/verify-quotas';
import { launchBody } from './allocations.ts';
import type { TestApi } from '../api.ts';
import type { ApiAnswer, ApiProcess, ApiRequest } from '../processes/api-processes.ts';
import { endLease } from './end-lease.ts';
import { addHost, claimDefects } from '../fleet/fleet-rows.ts';

interface ModelSlot {
  nodeId: string;
  slotId: string;
  disabled: boolean;
  allocationId: string | null;
}

interface Refusal {
  code: string;
  reasons: { filter: string; nodes_otherwise_fitting: number }[];
}

const SIZES = [1, 1, 2, 2, 3, 4];
const HOSTS = [4, 4, 6, 8];

/**
 * Launches, releases, drains, disabled and approved slots, at random and from several processes concurrently,
 * beside a model of the expected state. Every so often all work stops, and rows and model must be equal.
 */
export class PlacementModel {
  readonly #api: TestApi;
  readonly #processes: ApiProcess[];
  readonly #random: () => number;
  #slots: ModelSlot[] = [];
  readonly #draining = new Set<string>();
  /** Hosts with an operator action in this burst: two concurrent ones would make the result ambiguous. */
  readonly #busy = new Set<string>();
  readonly counts = { sold: 0, refused: 0 };

  constructor(api: TestApi, processes: ApiProcess[], random: () => number) {
    this.#api = api;
    this.#processes = processes;
    this.#random = random;
  }

  async addHosts(): Promise<void> {
    for (const size of HOSTS) {
      const { nodeId, slotIds } = await addHost(this.#api.services.db, size);
      this.#slots.push(...slotIds.map((slotId) => ({ nodeId, slotId, disabled: false, allocationId: null })));
    }
  }

  /** Several concurrent operations; when all have answered, rows and model must match. */
  async burst(width: number): Promise<void> {
    this.#busy.clear();
    await Promise.all(Array.from({ length: width }, () => this.#anything()));
    await this.#compare();
  }

  /** Waits until nothing runs in the database, including work of processes that are gone. */
  async settle(): Promise<void> {
    await expect
      .poll(async () => {
        const { rows } = await sql`select from pg_stat_activity
          where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`.execute(
          this.#api.services.db,
        );
        return rows.length;
      })
      .toBe(0);
    await this.#compare();
  }

  /** Without concurrent work, a launch succeeds exactly when the model has capacity. */
  async launchAlone(): Promise<void> {
    const gpus = this.#pick(SIZES);
    const room = this.#roomFor(gpus);
    const answer = await this.#launch(gpus);
    expect(answer?.statusCode, `${gpus} GPUs, room: ${room}`).toBe(room ? 202 : 409);
    if (!room) await this.#lift(gpus, answer!.body as unknown as Refusal);
    await this.#compare();
  }

  /** A refusal must be true: once its only reason is gone, the same launch succeeds. */
  async #lift(gpus: number, refusal: Refusal): Promise<void> {
    expect(refusal.code).toBe('sku_unavailable');
    for (const { filter, nodes_otherwise_fitting: only } of refusal.reasons) {
      if (only === 0) continue;
      if (filter === 'not_draining') {
        const fits = [...this.#draining].find((nodeId) => this.#freeOn(nodeId).length >= gpus);
        expect(fits, 'a drained node with room').toBeDefined();
        await this.#resume(fits!);
      } else if (filter === 'enough_free_slots') {
        const full = this.#nodes().find(
          (nodeId) => !this.#draining.has(nodeId) && this.#on(nodeId).length >= gpus,
        );
        expect(full, 'a node that only lacks free slots').toBeDefined();
        for (const slot of this.#on(full!)) await this.#free(slot);
      } else {
        throw new Error(`${filter} was named, and nothing of that kind was done`);
      }
      const again = await this.#launch(gpus);
      expect(again?.statusCode, `without ${filter}: ${JSON.stringify(again?.body)}`).toBe(202);
      return;
    }
    expect(this.#nodes().some((nodeId) => this.#on(nodeId).length >= gpus)).toBe(true);
  }

  async #anything(): Promise<void> {
    const dice = this.#random();
    if (dice < 0.5) return void (await this.#launch(this.#pick(SIZES)));
    if (dice < 0.7) return await this.#release();
    const slot = this.#pick(this.#slots);
    const target = dice < 0.88 ? slot.nodeId : slot.slotId;
    if (this.#busy.has(target)) return;
    this.#busy.add(target);
    if (dice < 0.8) return await this.#drain(slot.nodeId);
    if (dice < 0.88) return await this.#resume(slot.nodeId);
    if (dice < 0.94) return await this.#disable(slot);
    return await this.#approve(slot);
  }

  async #launch(gpus: number): Promise<ApiAnswer | null> {
    const { apiKey, projectId } = this.#api.people['member']!;
    const answer = await this.#ask(apiKey, 'POST', '/api/v1/allocations', launchBody(projectId!, gpus));
    if (answer?.statusCode === 202) this.counts.sold += 1;
    else if (answer) this.counts.refused += 1;
    if (answer && ![202, 409].includes(answer.statusCode)) throw new Error(JSON.stringify(answer.body));
    return answer;
  }

  async #release(): Promise<void> {
    const held = this.#slots.filter((slot) => slot.allocationId !== null);
    if (held.length === 0) return;
    const { allocationId } = this.#pick(held);
    const slots = held.filter((slot) => slot.allocationId === allocationId);
    for (const slot of slots) slot.allocationId = null;
    await this.#api.services.db.transaction().execute((tx) => endLease(tx, allocationId!));
  }

  async #free(slot: ModelSlot): Promise<void> {
    if (slot.allocationId !== null) {
      const { allocationId } = slot;
      for (const other of this.#slots) if (other.allocationId === allocationId) other.allocationId = null;
      await this.#api.services.db.transaction().execute((tx) => endLease(tx, allocationId));
    }
    if (slot.disabled) await this.#approve(slot);
  }

  async #drain(nodeId: string): Promise<void> {
    await this.#operate('POST', `/api/v1/admin/nodes/${nodeId}/drain`, { reason: 'model' });
    this.#draining.add(nodeId);
  }

  async #resume(nodeId: string): Promise<void> {
    await this.#operate('POST', `/api/v1/admin/nodes/${nodeId}/resume`);
    this.#draining.delete(nodeId);
  }

  async #disable(slot: ModelSlot): Promise<void> {
    await this.#operate('POST', `/api/v1/admin/nodes/${slot.nodeId}/resource-slots/${slot.slotId}/disable`, {
      reason: 'model',
    });
    slot.disabled = true;
  }

  /** The writes of an approval to a disabled slot. */
  async #approve(slot: ModelSlot): Promise<void> {
    await sql`update node_resource_slots set desired_state = 'for_sale',
        state = case state when 'disabled' then 'available' else state end
      where id = ${slot.slotId}`.execute(this.#api.services.db);
    slot.disabled = false;
  }

  async #operate(method: ApiRequest['method'], url: string, payload?: object): Promise<void> {
    const { apiKey } = this.#api.people['operator']!;
    let answer: ApiAnswer | null = null;
    // A process that died may or may not have done it; each of these can be done again.
    while (!answer) answer = await this.#ask(apiKey, method, url, payload);
    if (answer.statusCode >= 300) throw new Error(`${url}: ${JSON.stringify(answer.body)}`);
  }

  async #ask(
    key: string,
    method: ApiRequest['method'],
    url: string,
    payload?: object,
  ): Promise<ApiAnswer | null> {
    const request = {
      method,
      url,
      headers: { authorization: `Bearer ${key}` },
      ...(payload ? { payload } : {}),
    };
    const process = this.#pick([null, ...this.#processes]);
    if (process) return await process.ask(request);
    const answer = await this.#api.server.inject(request);
    return { statusCode: answer.statusCode, body: answer.body ? answer.json() : null };
  }

  /** Takes over the holders, which only the launches know, and checks all the rest. */
  async #compare(): Promise<void> {
    const { db } = this.#api.services;
    const { rows } = await sql<{
      slotId: string;
      state: string;
      allocationId: string | null;
      claims: bigint;
    }>`
      select s.id as "slotId", s.state, (array_agg(c.allocation_id))[1] as "allocationId", count(c.id) as claims
      from node_resource_slots s
        left join allocation_resource_claims c on c.slot_id = s.id and c.released_at is null
      where s.id = any(${this.#slots.map(({ slotId }) => slotId)}::uuid[])
      group by s.id`.execute(db);
    const found = new Map(rows.map((row) => [row.slotId, row]));
    for (const slot of this.#slots) {
      const row = found.get(slot.slotId)!;
      expect(Number(row.claims)).toBeLessThanOrEqual(1);
      if (slot.allocationId !== null) expect(row.allocationId).toBe(slot.allocationId);
      slot.allocationId = row.allocationId;
      const expected = slot.allocationId !== null ? 'reserved' : slot.disabled ? 'disabled' : 'available';
      expect(row.state).toBe(expected);
    }
    const held = await sql<{ id: string; gpus: number; slots: bigint; nodes: bigint }>`
      select a.id, a.gpu_count as gpus, count(c.id) as slots, count(distinct c.node_id) as nodes
      from allocations a join allocation_resource_claims c on c.allocation_id = a.id and c.released_at is null
      group by a.id`.execute(db);
    for (const { gpus, slots, nodes } of held.rows) expect([Number(slots), Number(nodes)]).toEqual([gpus, 1]);
    const defects = (await claimDefects(db)) as { state: string; claims: bigint }[];
    expect(defects.filter(({ state, claims }) => state !== 'disabled' || claims > 0n)).toEqual([]);
    expect(await verifyQuotas(db, 5)).toEqual([]);
  }

  #roomFor(gpus: number): boolean {
    return this.#nodes().some((nodeId) => !this.#draining.has(nodeId) && this.#freeOn(nodeId).length >= gpus);
  }

  #nodes(): string[] {
    return [...new Set(this.#slots.map(({ nodeId }) => nodeId))];
  }

  #on(nodeId: string): ModelSlot[] {
    return this.#slots.filter((slot) => slot.nodeId === nodeId);
  }

  #freeOn(nodeId: string): ModelSlot[] {
    return this.#on(nodeId).filter(({ disabled, allocationId }) => !disabled && allocationId === null);
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }
}

/** Yields the same numbers for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
