import { sql } from 'kysely';
import type { TaskKind } from '@gpuaas/contracts/tasks';
import type { Db, Tx } from '../../platform/db/database.ts';

/** Hosts, each with the time since which a task counts as fresh, that have no open and no fresh task of the kind. */
export async function hostsDue(
  db: Db | Tx,
  kind: TaskKind,
  hosts: readonly { id: string; freshSince: Date }[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select h.id from unnest(${hosts.map(({ id }) => id)}::uuid[], ${hosts.map(({ freshSince }) => freshSince)}::timestamptz[])
        as h (id, fresh_since)
      where not exists (select from node_tasks t where t.node_id = h.id and t.kind = ${kind}
        and (t.finished_at is null or t.created_at > h.fresh_since))
      order by h.id`.execute(db);
  return rows.map(({ id }) => id);
}
