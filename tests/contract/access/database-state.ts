import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { sql } from 'kysely';

/** Written by every request on purpose; the audit log has a separate test. */
const WRITTEN_BY_REFUSALS = ['audit_logs'];

export type DatabaseState = Map<string, string>;

/** A checksum of every table of ours, in one statement. The time of a key's last use is not part of it. */
export async function databaseState(db: Db): Promise<DatabaseState> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class c
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`.execute(db);
  const checksums = tables
    .filter(({ name }) => !WRITTEN_BY_REFUSALS.includes(name))
    .map(
      ({ name }) => sql<{ name: string; checksum: string }>`
        select ${name} as name,
          count(*) || ' ' || coalesce(sum(hashtextextended((to_jsonb(t) - 'last_used_at')::text, 0)), 0) as checksum
        from ${sql.table(name)} t`,
    );
  const { rows } = await sql<{
    name: string;
    checksum: string;
  }>`${sql.join(checksums, sql` union all `)}`.execute(db);
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

/** The tables that differ. */
export function changedTables(before: DatabaseState, after: DatabaseState): string[] {
  return [...after].filter(([name, checksum]) => before.get(name) !== checksum).map(([name]) => name);
}
