import { keysOf } from '@gpuaas/contracts/typed-keys';
import { appReasons, type AppReason } from '@gpuaas/contracts/generated/reasons.ts';
import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import type { Overdue } from '../incidents/watch-deadlines.ts';
import { syncIncidents } from '../incidents/sync-incidents.ts';

/** Enough to show the fault; the rest is reported once these are resolved. */
const LIMIT = 100;
/** Beyond the deadline of a move: the workflow that does it may wait for the next worker. */
const GRACE_MS = 60_000;
/** How long a failure that is the platform's fault stays an incident. */
const SHOWN_MS = 3_600_000;

const platformFaults = reasonsWhere(({ incident }) => incident);
/** The tenant shut the platform out of the machine: it ends with the allocation, and no operator can help. */
const tenantFaults = reasonsWhere(({ group, fault }) => group === 'platform' && fault === 'user');

/** Opens `app_runtime_lifecycle` for instances that are stuck, failed by our fault, or ended without proof in time. */
export const watchLifecycle: Tick<Services> = {
  name: 'apps.watch_lifecycle',
  everySeconds: 15,
  catchUp: 'skip',
  async run({ db, clock }) {
    const now = clock.now();
    const ago = (ms: number): Date => new Date(now.getTime() - ms);
    const stuck = await db
      .selectFrom('app_instances')
      .select(['id', 'app_slug', 'status', 'due_at', 'organization_id'])
      .where('ended_at', 'is', null)
      .where('due_at', '<', ago(GRACE_MS))
      .orderBy('due_at')
      .limit(LIMIT)
      .execute();
    const failed = await db
      .selectFrom('app_instances')
      .select(['id', 'app_slug', 'reason', 'organization_id'])
      .where('status', '=', 'failed')
      .where('ended_at', '>', ago(SHOWN_MS))
      .where('reason', 'in', platformFaults)
      .limit(LIMIT)
      .execute();
    const unproven = await db
      .selectFrom('app_instance_members as m')
      .innerJoin('app_instances as i', 'i.id', 'm.instance_id')
      .select(['i.id', 'i.app_slug', 'm.allocation_id', 'm.teardown_due_at', 'm.organization_id'])
      .where('m.teardown', 'is', null)
      .where('m.teardown_due_at', '<', now)
      .where((e) =>
        e.or([e('m.teardown_blocked_by', 'is', null), e('m.teardown_blocked_by', 'not in', tenantFaults)]),
      )
      .limit(LIMIT)
      .execute();
    const overdue: Overdue[] = [
      ...stuck.map(({ id, app_slug: app, status, due_at: due, organization_id: organization }) => ({
        ...target(id),
        summary: `${app} is ${status} and should have moved on by ${due?.toISOString()}.`,
        detail: { status, organization_id: organization },
      })),
      ...failed.map(({ id, app_slug: app, reason, organization_id: organization }) => ({
        ...target(id),
        summary: `${app} failed: ${reason === null ? 'no reason' : appReasons[reason].title}.`,
        detail: { reason, organization_id: organization },
      })),
      ...unproven.map(({ id, app_slug: app, allocation_id, teardown_due_at: due, organization_id }) => ({
        ...target(id),
        summary: `${app} has ended, and its teardown was to be proven by ${due?.toISOString()}.`,
        detail: { allocation_id, organization_id },
      })),
    ];
    const byInstance = new Map(overdue.map((one) => [one.targetId, one]));
    await db
      .transaction()
      .execute((tx) =>
        syncIncidents(tx, now, 'app_runtime_lifecycle', [...byInstance.values()], 'It moved on.'),
      );
  },
};

function target(instanceId: string): Pick<Overdue, 'targetType' | 'targetId'> {
  return { targetType: 'app_instance', targetId: instanceId };
}

function reasonsWhere(is: (reason: (typeof appReasons)[AppReason]) => boolean): AppReason[] {
  return keysOf(appReasons).filter((name) => is(appReasons[name]));
}
