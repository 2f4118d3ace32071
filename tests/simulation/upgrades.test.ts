import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { showProgress } from '@gpuaas/control-plane/domains/allocations/show-timeline';
import { eventually } from '../harness/eventually.ts';
import { keepWorkers, type Workers } from './lifecycle/keep-workers.ts';
import { openLifecycleWorld, type LifecycleWorld } from './lifecycle/lifecycle-world.ts';
import { advanceTime, openIncidentsIn, reconcileNow, slotStatesOf } from './lifecycle/world-state.ts';

const WAIT = 90_000;
let world: LifecycleWorld;
let workers: Workers;
beforeAll(async () => {
  world = await openLifecycleWorld({ nodes: 1, policies: { 'allocations.wipe_attempts': 1 } });
  workers = keepWorkers(1, world.env);
}, 180_000);
afterAll(async () => {
  await workers?.stop();
  await world?.stop();
});

const db = () => world.api.services.db;

async function active(): Promise<string> {
  const id = await world.launch();
  await world.waitFor([id], ['active'], WAIT);
  return id;
}

describe('an upgrade', () => {
  /**
   * Workers of a release in which the workflow's steps have other names: they give up workflows that they
   * cannot continue.
   */
  async function upgrade(workflow: string, step: string): Promise<void> {
    await workers.stop();
    await sql`update dbos.operation_outputs set function_name = ${`${step} of then`}
      where workflow_uuid = ${workflow} and function_name = ${step}`.execute(db());
    workers = keepWorkers(1, world.env);
    await eventually('the workflow to give up', async () => {
      const { rows } = await sql`select from dbos.workflow_status
        where workflow_uuid = ${workflow} and status = 'ERROR'`.execute(db());
      return rows[0] ?? null;
    });
    expect(await openIncidentsIn(world, 'workflow_failed')).toContain(workflow);
  }

  async function askedOfHost(allocationId: string, kind: string): Promise<void> {
    await eventually(`${kind} to be asked of the host`, async () =>
      db()
        .selectFrom('node_tasks')
        .select('id')
        .where('allocation_id', '=', allocationId)
        .where('kind', '=', kind)
        .executeTakeFirst(),
    );
  }

  async function reconcileLater(allocationId: string): Promise<void> {
    await advanceTime(world, allocationId);
    await reconcileNow(world);
  }

  /**
   * Tasks that hosts could still claim: a stale one would reach slots that were leased to another tenant
   * since.
   */
  async function openTasks(workflow: string): Promise<string[]> {
    const rows = await db()
      .selectFrom('node_tasks')
      .select('kind')
      .where('workflow_id', '=', workflow)
      .where('state', 'in', ['queued', 'claimed'])
      .execute();
    return rows.map(({ kind }) => kind);
  }

  const cutAll = (): void => {
    for (const nodeId of world.nodeIds) world.hosts.host(nodeId).cut = true;
  };
  const mendAll = async (): Promise<void> => {
    for (const nodeId of world.nodeIds) world.hosts.host(nodeId).cut = false;
    await world.hosts.beatOnce();
  };

  it('that no longer knows the steps a launch has taken gives it up, and the reconciler fails it for an operator to clean', async () => {
    cutAll();
    const id = await world.launch();
    await askedOfHost(id, 'slice.vm_provision');
    await upgrade(`provision:${id}`, 'provision.begin');
    expect(await openTasks(`provision:${id}`)).toEqual(['slice.vm_provision']);
    await reconcileLater(id);
    expect(await openTasks(`provision:${id}`)).toEqual([]);
    await mendAll();
    await world.waitFor([id], ['failed'], WAIT);
    expect(await slotStatesOf(world, world.nodeIds[0]!)).toContain('cleanup_blocked');
    expect(await world.post('operator', `/admin/allocations/${id}/retry-release`)).toBe(202);
    await world.waitFor([id], ['failed'], WAIT);
    expect(world.hosts.leftovers()).toEqual([]);
    expect(await slotStatesOf(world, world.nodeIds[0]!)).toEqual(['available']);
    const row = db().selectFrom('allocations').selectAll().where('id', '=', id);
    await eventually('its cleanup to be reported as finished', async () => {
      const stages = await db()
        .transaction()
        .execute(async (tx) => showProgress(tx, await row.executeTakeFirstOrThrow()));
      const shown = stages.map(({ stage, status }) => `${stage} ${status}`);
      return shown.includes('image_clone failed') && shown.includes('cleanup done') ? true : null;
    });
  }, 240_000);

  it('with other steps restarts a running release, which ends with proof', async () => {
    const id = await active();
    cutAll();
    await world.post('member', `/allocations/${id}/release`);
    await askedOfHost(id, 'slice.vm_release');
    await upgrade(`release:${id}:1`, 'release.begin');
    expect(await openTasks(`release:${id}:1`)).toEqual(['slice.vm_release']);
    await reconcileLater(id);
    expect(await openTasks(`release:${id}:1`)).toEqual([]);
    await mendAll();
    await world.waitFor([id], ['released'], WAIT);
    expect(world.hosts.leftovers()).toEqual([]);
    const proofs = await db()
      .selectFrom('wipe_certificates')
      .select('verified')
      .where('allocation_id', '=', id)
      .execute();
    expect(proofs).toContainEqual({ verified: true });
  }, 240_000);

  it('while a release waits for its launch leaves no machine behind', async () => {
    cutAll();
    const id = await world.launch();
    await askedOfHost(id, 'slice.vm_provision');
    await world.post('member', `/allocations/${id}/release`);
    const workflow = `release:${id}:1`;
    await eventually('the release to wait', async () => {
      const { rows } = await sql`select from dbos.operation_outputs
        where workflow_uuid = ${workflow} and function_name = 'release.begin'`.execute(db());
      return rows[0] ?? null;
    });
    await upgrade(workflow, 'release.begin');
    await mendAll();
    await world.waitFor([id], ['active'], WAIT);
    await reconcileLater(id);
    await world.waitFor([id], ['released'], WAIT);
    expect(world.hosts.leftovers()).toEqual([]);
  }, 240_000);

  it('whose release keeps failing restarts it at intervals, not in every run', async () => {
    const id = await active();
    await workers.stop();
    await world.post('member', `/allocations/${id}/release`);
    const { db: database, workflows } = world.api.services;
    const attempts = async (): Promise<number> =>
      (
        await db()
          .selectFrom('allocations')
          .select('release_attempts')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
      ).release_attempts;
    await workflows.cancel(database, `release:${id}:1`);
    await reconcileLater(id);
    expect(await attempts()).toBe(2);
    await workflows.cancel(database, `release:${id}:2`);
    await reconcileNow(world);
    expect(await attempts()).toBe(2);
    await reconcileLater(id);
    expect(await attempts()).toBe(3);
    workers = keepWorkers(1, world.env);
    await world.waitFor([id], ['released'], WAIT);
  }, 240_000);
});
