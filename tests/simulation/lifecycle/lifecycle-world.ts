import { startMaasServer, type MaasServer } from '@gpuaas/lab/maas/maas-server';
import { readConfig } from '@gpuaas/control-plane/roles/config';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { eventually } from '../../harness/eventually.ts';
import { addNode, approveAll, candidate } from '../../harness/fleet/fleet.ts';
import { enrolMachine, maasEnv } from '../../harness/fleet/maas.ts';
import { ModelHosts } from './model-hosts.ts';

export interface LifecycleWorld {
  api: TestApi;
  hosts: ModelHosts;
  nodeIds: string[];
  /** Where the world was asked for one. */
  maas: MaasServer | null;
  /** Environment of a worker over this world. */
  env: Record<string, string>;
  launch(): Promise<string>;
  /** A lease of a whole host, as the create path writes it. */
  leaseHost(nodeId: string): Promise<string>;
  post(person: string, path: string, body?: object): Promise<number>;
  stateOf(allocationId: string): Promise<{ state: string; execution_state: string }>;
  waitFor(allocationIds: readonly string[], states: readonly string[], timeoutMs: number): Promise<void>;
  /** Releases and cleans everything, then checks that nothing is left. */
  expectCleanEnd(timeoutMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** The real API over a separate database, model hosts, and no worker: the test brings its own to kill. */
export async function openLifecycleWorld(options: {
  nodes: number;
  policies?: Record<string, number | boolean>;
  databaseUrl?: string;
  /** Machines that it installs enrol as model hosts. */
  withMaas?: boolean;
}): Promise<LifecycleWorld> {
  const { databaseUrl } = options;
  const maas = options.withMaas
    ? await startMaasServer({
        onDeployed: async (machine) => hosts.add(await enrolMachine(api.services, machine)),
      })
    : null;
  const maasSettings = readConfig([], maas ? maasEnv(maas) : {}).maas;
  const api = await createTestApi({
    ...(databaseUrl ? { databaseUrl } : {}),
    ...(maasSettings ? { maas: maasSettings } : {}),
  });
  const { services, people } = api;
  const { db } = services;
  await db.updateTable('sku_catalog').set({ enabled: true }).execute();
  const hosts = new ModelHosts(services);
  const nodeIds: string[] = [];
  for (let index = 0; index < options.nodes; index += 1) {
    const nodeId = await addNode(api);
    const slots = Array.from({ length: 8 }, (_, slot) => candidate(slot));
    const approved = await approveAll(api, nodeId, slots);
    expect(approved.status, JSON.stringify(approved.body)).toBe(200);
    hosts.add(nodeId, slots);
    nodeIds.push(nodeId);
  }
  await hosts.beatOnce();
  hosts.start();

  const post = async (person: string, url: string, payload?: object): Promise<number> => {
    const answer = await api.server.inject({
      method: 'POST',
      url: `/api/v1${url}`,
      headers: { authorization: `Bearer ${people[person]!.apiKey}` },
      ...(payload ? { payload } : {}),
    });
    return answer.statusCode;
  };
  const stateOf = (id: string) =>
    db
      .selectFrom('allocations')
      .select(['state', 'execution_state'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();

  const world: LifecycleWorld = {
    api,
    hosts,
    nodeIds,
    maas,
    env: {
      ...(maas ? maasEnv(maas) : {}),
      DATABASE_URL: api.databaseUrl,
      GPUAAS_DATA_DIR: api.dataDir,
      TEST_POLICIES: JSON.stringify(options.policies ?? {}),
    },
    post,
    stateOf,
    async launch() {
      const answer = await api.server.inject({
        method: 'POST',
        url: '/api/v1/allocations',
        headers: { authorization: `Bearer ${people['member']!.apiKey}` },
        payload: {
          project_id: people['member']!.projectId,
          sku: 'h200-sxm-slice',
          gpu_count: 1,
          image: 'H200-ubuntu-24.04-gpuaas-slice',
          region: 'uae-north-1',
        },
      });
      if (answer.statusCode !== 202) throw new Error(`launch: ${answer.statusCode} ${answer.body}`);
      return answer.json<{ id: string }>().id;
    },
    leaseHost: (nodeId) => leaseHost(api, nodeId),
    async waitFor(ids, states, timeoutMs) {
      await eventually(
        `${ids.length} allocations to be ${states.join(' or ')}`,
        async () => {
          const rows = await db
            .selectFrom('allocations')
            .select(['id', 'state', 'execution_state'])
            .where('id', 'in', [...ids])
            .execute();
          const settled = rows.every(
            (row) =>
              states.includes(row.state) && ['idle', 'waiting_for_cleanup'].includes(row.execution_state),
          );
          return settled ? true : null;
        },
        timeoutMs,
      );
    },
    async expectCleanEnd(timeoutMs) {
      hosts.calm();
      const ended = ['released', 'failed'];
      await eventually(
        'everything to end',
        async () => {
          const rows = await db
            .selectFrom('allocations as a')
            .select(['id', 'state', 'execution_state', 'desired_state'])
            .select(
              sql<boolean>`exists (select from allocation_resource_claims c
                where c.allocation_id = a.id and c.released_at is null)`.as('holds'),
            )
            .execute();
          for (const row of rows) {
            if (row.state === 'active' && row.desired_state === 'active') {
              await post('member', `/allocations/${row.id}/release`);
            }
            const rests = row.execution_state === 'idle' && ended.includes(row.state) && row.holds;
            if (row.state === 'release_failed' || rests) {
              await post('operator', `/admin/allocations/${row.id}/retry-release`);
            }
          }
          return rows.every((row) => ended.includes(row.state) && !row.holds) ? true : null;
        },
        timeoutMs,
      );
      await expectNothingLeft(world);
    },
    async stop() {
      await maas?.stop();
      await hosts.stop();
      await api.stop();
    },
  };
  return world;
}

async function expectNothingLeft({ api, hosts }: LifecycleWorld): Promise<void> {
  const { db } = api.services;
  expect(hosts.leftovers()).toEqual([]);
  const count = async (query: ReturnType<typeof sql<{ count: number }>>): Promise<number> =>
    (await query.execute(db)).rows[0]!.count;
  const left = {
    cells: await count(sql`select count(*)::int as count from claim_cells`),
    inLine: await count(sql`select count(*)::int as count from queued_launches`),
    promises: await count(
      sql`select count(*)::int as count from node_promises where allocation_id is not null`,
    ),
    keys: await count(sql`select count(*)::int as count from allocation_access_keys`),
    tasks: await count(
      sql`select count(*)::int as count from node_tasks where state in ('queued', 'claimed')`,
    ),
    slots: await count(
      sql`select count(*)::int as count from node_resource_slots where state not in ('available', 'disabled')`,
    ),
    quarantined: await count(
      sql`select count(*)::int as count from incidents
        where resolved_at is null and type in ('slot_cleanup_blocked', 'host_cleanup_blocked', 'allocation_release_failed')`,
    ),
    gaveUp: await count(sql`select count(*)::int as count from incidents where type = 'workflow_failed'`),
    unproven: await count(
      sql`select count(*)::int as count from allocation_resource_claims c
        where c.claim_kind = 'slot' and not exists (select from wipe_certificates w
          where w.allocation_id = c.allocation_id and w.slot_id = c.slot_id and w.verified)`,
    ),
  };
  expect(Object.entries(left).filter(([, number]) => number > 0)).toEqual([]);
}

async function leaseHost({ services, people }: TestApi, nodeId: string): Promise<string> {
  const person = people['member']!;
  const { db } = services;
  const user = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', person.email)
    .executeTakeFirstOrThrow();
  const price = await db
    .selectFrom('sku_prices')
    .selectAll()
    .where('sku', '=', 'h200-sxm-slice')
    .executeTakeFirstOrThrow();
  const image = await db
    .selectFrom('images')
    .selectAll()
    .where('digest', 'is not', null)
    .executeTakeFirstOrThrow();
  const [id, correlationId] = [newId(), newId()];
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto('allocations')
      .values({
        id,
        name: 'metal',
        organization_id: person.organizationId!,
        project_id: person.projectId!,
        sku: price.sku,
        capacity_shape: 'baremetal',
        gpu_count: 8,
        image: image.image,
        image_digest: image.digest!,
        region: price.region,
        state: 'reserved',
        node_id: nodeId,
        currency: price.currency,
        per_gpu_hour_micros: price.per_gpu_hour_micros,
        price_id: price.id,
        created_by: user.id,
        correlation_id: correlationId,
      })
      .execute();
    await tx
      .insertInto('allocation_resource_claims')
      .values({
        id: newId(),
        allocation_id: id,
        node_id: nodeId,
        claim_kind: 'node_exclusive',
        slot_id: null,
        snapshot: '{}',
      })
      .execute();
    await services.workflows.start(tx, { name: 'allocation.provision' }, `provision:${id}`, {
      allocationId: id,
      correlationId,
    });
  });
  return id;
}
