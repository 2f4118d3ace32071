import type { Tx } from '../../../../platform/db/database.ts';
import type { Services } from '../../../../platform/services.ts';
import type { Tick } from '../../../../platform/ticks/tick.ts';
import { findVersion } from '../../catalog/find-manifests.ts';
import { lockInstance } from '../../instances/move-instance.ts';
import { requestStop } from '../../instances/request-stop.ts';
import { judgeSmokeRun, type SmokeFacts } from './judge-smoke-run.ts';

const BATCH = 100;

/** Records what became of the instances of smoke runs, and stops those that have passed or are overdue. */
export const watchSmokeRuns: Tick<Services> = {
  name: 'apps.watch_smoke_runs',
  everySeconds: 2,
  catchUp: 'skip',
  async run(services) {
    const { db, log } = services;
    const running = await db
      .selectFrom('app_artifact_smoke_runs')
      .select('id')
      .where('state', '=', 'running')
      .orderBy('id')
      .limit(BATCH)
      .execute();
    for (const { id } of running)
      try {
        await db.transaction().execute((tx) => judgeRun(services, tx, id));
      } catch (error) {
        log.warn({ err: error, smoke_run_id: id }, 'a smoke run could not be judged');
      }
  },
};

/** The finding and the stop are one decision: a run never ends and leaves its instance. */
async function judgeRun(services: Services, tx: Tx, runId: string): Promise<void> {
  const run = await tx
    .selectFrom('app_artifact_smoke_runs')
    .selectAll()
    .where('id', '=', runId)
    .where('state', '=', 'running')
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!run) return;
  const now = services.clock.now();
  const finding = judgeSmokeRun(await factsOf(tx, run, now));
  const { state, reason, message } = finding;
  await tx
    .updateTable('app_artifact_smoke_runs')
    .set({ state, reason, message, ended_at: state === 'running' ? null : now })
    .where('id', '=', runId)
    .execute();
  if (state !== 'running')
    await requestStop(services, tx, run.app_instance_id, {
      reason: 'cancelled',
      message: `The smoke run has ${state}`,
    });
}

async function factsOf(
  tx: Tx,
  run: { app_instance_id: string; app_slug: string; app_version: string; due_at: Date },
  now: Date,
): Promise<SmokeFacts> {
  const instance = await lockInstance(tx, run.app_instance_id);
  const version = await findVersion(tx, { slug: run.app_slug, version: run.app_version });
  const events = await tx
    .selectFrom('app_instance_events')
    .select(['event_type', 'reason', 'message'])
    .where('instance_id', '=', run.app_instance_id)
    .orderBy('position')
    .execute();
  return {
    instance,
    hasProbe: version.runtime_profile.readiness !== null,
    wasHealthy: events.some(({ event_type: type }) => type === 'healthy'),
    hasStarted: events.some(({ event_type: type }) => type === 'start_completed'),
    lastMessage: events.findLast(({ reason }) => reason !== null)?.message ?? null,
    isOverdue: now > run.due_at,
  };
}
