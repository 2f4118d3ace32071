import { sql } from 'kysely';
import { GuestError, type GuestFailure } from '../executors/allocation/guest-error.ts';
import type { MemberObservation } from '../executors/allocation/members.ts';
import { observeGuest } from '../executors/allocation/run-members.ts';
import { beginEnding, type End } from '../instances/begin-ending.ts';
import { proveTeardown } from '../instances/end-members.ts';
import { lockInstance } from '../instances/move-instance.ts';
import { recordAppEvent } from '../instances/record-event.ts';
import { shipLog } from '../logs/ship-log.ts';
import type { DueMember } from './claim-machines.ts';
import { judgeObservation, signalName } from './judge-observation.ts';
import type { RuntimeServices } from './runtime-services.ts';
import { tearDown } from './tear-down.ts';

/** Observes the members of one machine in one visit: records their use, ends those that exited, ships their logs. */
export async function observeMachine(
  services: RuntimeServices,
  allocationId: string,
  due: readonly DueMember[],
): Promise<void> {
  const running = due.filter(({ ended_at: ended }) => ended === null);
  for (const member of due.filter(({ ended_at: ended }) => ended !== null)) await proveLate(services, member);
  if (running.length === 0) return;
  let seen: MemberObservation[];
  const writers = new Set<string>();
  try {
    seen = await services.guests.visit(allocationId, async (guest) => {
      const { members } = await observeGuest(guest);
      for (const member of running) {
        const own = members.find(({ memberId }) => memberId === member.id);
        if (own && !member.log_truncated && own.logBytes > Number(member.log_read)) {
          const shipped = await shipLog(services, guest, member.id, { written: own.logBytes });
          if (shipped) writers.add(member.id);
        }
      }
      return members;
    });
  } catch (error) {
    if (!(error instanceof GuestError)) throw error;
    await recordUnreachable(services, running, error);
    return;
  }
  const byMember = new Map(seen.map((one) => [one.memberId, one]));
  const observed = running.flatMap(({ id }) => {
    const own = byMember.get(id);
    return own ? [{ ...own, writes: writers.has(id) }] : [];
  });
  await recordUse(services, observed);
  for (const member of running) await endIfOver(services, member, byMember.get(member.id) ?? ABSENT);
}

const ABSENT = { state: 'absent', exitCode: null, signal: null, oom: false } as const;

/** A member that writes is observed again after this time, because people may follow its log. */
const WRITES_SECONDS = 2;

async function recordUse(
  { db, clock }: RuntimeServices,
  observed: readonly (MemberObservation & { writes: boolean })[],
): Promise<void> {
  if (observed.length === 0) return;
  await sql`
    update app_instance_members m set cpu_seconds = o.cpu, memory_bytes = o.memory, observed_at = ${clock.now()},
      unreachable_since = null,
      observe_at = case when o.writes and observe_at is not null
        then least(observe_at, now() + make_interval(secs => ${WRITES_SECONDS})) else observe_at end
    from unnest(${observed.map(({ memberId }) => memberId)}::uuid[],
      ${observed.map(({ cpuSeconds }) => cpuSeconds)}::double precision[],
      ${observed.map(({ memoryBytes }) => memoryBytes)}::bigint[],
      ${observed.map(({ writes }) => writes)}::boolean[]) as o (id, cpu, memory, writes)
    where m.id = o.id and m.ended_at is null`.execute(db);
}

async function endIfOver(
  services: RuntimeServices,
  member: DueMember,
  seen: Pick<MemberObservation, 'state' | 'exitCode' | 'signal' | 'oom'>,
): Promise<void> {
  if (seen.state === 'running') return;
  await services.db.transaction().execute(async (tx) => {
    const instance = await lockInstance(tx, member.instance_id);
    const end = judgeObservation(instance.kind, seen);
    if (!end || instance.status !== 'running' || instance.ending !== null) return;
    await tx
      .updateTable('app_instance_members')
      .set({ exit_code: seen.exitCode, signal: seen.signal === null ? null : signalName(seen.signal) })
      .where('id', '=', member.id)
      .execute();
    if (end.ending === 'failed')
      await recordAppEvent(tx, services.clock.now(), instance, {
        type: 'member_failed',
        memberId: member.id,
        reason: end.reason,
        message: end.message,
        payload: { exit_code: seen.exitCode, signal: seen.signal },
      });
    await beginEnding(services, tx, instance, end);
  });
}

/** A machine may be away for a while; after that its members have failed. */
async function recordUnreachable(
  services: RuntimeServices,
  members: readonly DueMember[],
  { reason, message }: GuestError,
): Promise<void> {
  const { db, clock, policies } = services;
  const now = clock.now();
  const since = new Date(now.getTime() - policies.get('apps.unreachable_seconds') * 1000);
  await db
    .updateTable('app_instance_members')
    .set((e) => ({ unreachable_since: e.fn.coalesce('unreachable_since', e.val(now)) }))
    .where(
      'id',
      'in',
      members.map(({ id }) => id),
    )
    .execute();
  for (const member of members)
    if (member.unreachable_since !== null && member.unreachable_since <= since)
      await failUnreachable(services, member, reason, message);
}

async function failUnreachable(
  services: RuntimeServices,
  member: DueMember,
  reason: GuestFailure,
  message: string,
): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const instance = await lockInstance(tx, member.instance_id);
    if (instance.status !== 'running' || instance.ending !== null) return;
    const end: End = { ending: 'failed', reason, message: `The machine cannot be entered: ${message}` };
    await recordAppEvent(tx, services.clock.now(), instance, {
      type: 'member_failed',
      memberId: member.id,
      reason,
      message: end.message,
    });
    await beginEnding(services, tx, instance, end);
  });
}

/** Collects the missing evidence of a member that has ended. */
async function proveLate(services: RuntimeServices, member: DueMember): Promise<void> {
  const until = services.clock.now();
  const { teardown, blockedBy } = await tearDown(services, member, { graceSeconds: 0, until });
  if (!teardown) {
    await services.db
      .updateTable('app_instance_members')
      .set({ teardown_blocked_by: blockedBy })
      .where('id', '=', member.id)
      .where('teardown', 'is', null)
      .execute();
    return;
  }
  await services.db.transaction().execute(async (tx) => {
    const instance = await lockInstance(tx, member.instance_id);
    await proveTeardown(tx, services.clock.now(), instance, member.id, teardown);
  });
}
