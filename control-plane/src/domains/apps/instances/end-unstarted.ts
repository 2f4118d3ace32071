import type { Tx } from '../../../platform/db/database.ts';
import type { Teardown } from '../../../platform/db/stored-types.ts';
import { moveInstance } from './move-instance.ts';
import { recordAppEvent, type InstanceRow } from './record-event.ts';
import type { End } from './begin-ending.ts';

const NEVER_STARTED: Teardown = { proof: 'never_started' };

/** Ends an instance that still waits: nothing of it was ever on a machine. It must be locked. */
export async function endUnstarted(
  tx: Tx,
  now: Date,
  instance: InstanceRow,
  { ending, reason, message, gate = null }: End & { gate?: InstanceRow['gate'] },
): Promise<InstanceRow> {
  const members = await tx
    .updateTable('app_instance_members')
    .set({
      status: ending,
      reason,
      ended_at: now,
      observe_at: null,
      teardown: JSON.stringify(NEVER_STARTED),
      teardown_proved_at: now,
    })
    .where('instance_id', '=', instance.id)
    .returning('id')
    .execute();
  const ids = members.map(({ id }) => id);
  if (ids.length > 0) await tx.deleteFrom('app_member_ports').where('member_id', 'in', ids).execute();
  const ended = await moveInstance(tx, instance, ending, {
    reason,
    ending,
    ended_at: now,
    due_at: null,
    gate: gate === null ? null : JSON.stringify(gate),
    ...(ending === 'stopped' ? { desired: 'stop' } : {}),
  });
  await recordAppEvent(tx, now, ended, { type: ending, reason, message });
  return ended;
}
