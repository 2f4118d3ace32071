import type { AppReason } from '@gpuaas/contracts/generated/reasons.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Teardown } from '../../../platform/db/stored-types.ts';
import { present } from '../../../platform/present.ts';
import type { Services } from '../../../platform/services.ts';
import { recordAppEvent, type InstanceRow } from './record-event.ts';

export interface MemberEnd {
  memberId: string;
  teardown: Teardown | null;
  /** Why there is no evidence yet. */
  open: string | null;
  /** The reason if the platform could not work in the machine. */
  blockedBy: AppReason | null;
}

/** How soon a machine is asked again for evidence that is missing. */
const ASK_AGAIN_MS = 15_000;

/** Ends members with their evidence, or with a teardown that stays open until a deadline. The instance must be locked. */
export async function endMembers(
  { clock, policies }: Pick<Services, 'clock' | 'policies'>,
  tx: Tx,
  instance: InstanceRow,
  ends: readonly MemberEnd[],
): Promise<void> {
  const now = clock.now();
  const dueSeconds = policies.get('apps.teardown_deadline_seconds');
  const status = present(instance.ending, `ending of app instance ${instance.id}`);
  for (const { memberId, teardown, open, blockedBy } of ends) {
    await tx
      .updateTable('app_instance_members')
      .set({
        status,
        reason: instance.reason,
        ended_at: now,
        observe_at: teardown ? null : new Date(now.getTime() + ASK_AGAIN_MS),
        teardown_due_at: new Date(now.getTime() + dueSeconds * 1000),
        teardown_blocked_by: blockedBy,
      })
      .where('id', '=', memberId)
      .execute();
    await recordAppEvent(tx, now, instance, {
      type: 'member_removed',
      memberId,
      reason: instance.reason,
      message: 'The member has ended',
    });
    if (teardown) await proveTeardown(tx, now, instance, memberId, teardown);
    else
      await recordAppEvent(tx, now, instance, {
        type: 'teardown_open',
        memberId,
        message: `The teardown is not proven: ${open ?? 'no evidence'} It is proven later, at the latest when the machine is powered off and wiped.`,
      });
  }
}

/** Records the evidence of a member; its ports and the copy of its secrets go. The instance must be locked. */
export async function proveTeardown(
  tx: Tx,
  now: Date,
  instance: InstanceRow,
  memberId: string,
  teardown: Teardown,
): Promise<void> {
  const proved = await tx
    .updateTable('app_instance_members')
    .set({
      teardown: JSON.stringify(teardown),
      teardown_proved_at: now,
      teardown_blocked_by: null,
      observe_at: null,
    })
    .where('id', '=', memberId)
    .where('teardown', 'is', null)
    .returning('id')
    .executeTakeFirst();
  if (!proved) return;
  await tx.deleteFrom('app_member_ports').where('member_id', '=', memberId).execute();
  await tx.deleteFrom('app_member_secrets').where('member_id', '=', memberId).execute();
  await recordAppEvent(tx, now, instance, {
    type: 'teardown_proved',
    memberId,
    message: MESSAGES[teardown.proof],
    payload: { ...teardown },
  });
}

const MESSAGES: Record<Teardown['proof'], string> = {
  never_started: 'Nothing was ever started',
  observed: 'No process, port or file of it is left in the machine',
  wiped: 'The machine was powered off and wiped',
};
