import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { MemberRow } from '../instances/describe-instance.ts';

export type DueMember = Pick<
  MemberRow,
  | 'id'
  | 'instance_id'
  | 'allocation_id'
  | 'status'
  | 'log_read'
  | 'log_truncated'
  | 'unreachable_since'
  | 'ended_at'
>;

/**
 * Machines with a member whose look is due, with all their members: one look sees them all, so from then on they are due
 * together. The next look is set here: a process that dies loses one look, and two processes share the machines.
 */
export async function claimMachines(
  db: Db,
  { limit, intervalSeconds }: { limit: number; intervalSeconds: number },
): Promise<Map<string, DueMember[]>> {
  const { rows } = await sql<DueMember>`
    with due as (
      select id, allocation_id from app_instance_members where observe_at <= now() order by observe_at limit ${limit}
      for update skip locked
    ), beside as (
      select id from app_instance_members
      where allocation_id in (select allocation_id from due) and teardown is null and observe_at is not null
      for update skip locked
    )
    update app_instance_members m set observe_at = now() + make_interval(secs => ${intervalSeconds})
    from beside where m.id = beside.id
    returning m.id, m.instance_id, m.allocation_id, m.status, m.log_read, m.log_truncated, m.unreachable_since,
      m.ended_at`.execute(db);
  return Map.groupBy(rows, (row) => row.allocation_id);
}
