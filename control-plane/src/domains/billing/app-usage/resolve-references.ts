import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import type { RecordReferences, ReportedRecord } from './check-record.ts';

/** Looks up every project, allocation and member that a batch names, in three statements. */
export async function resolveReferences(
  tx: Tx,
  records: readonly ReportedRecord[],
): Promise<RecordReferences> {
  const distinct = (values: (string | null | undefined)[]): string[] => [
    ...new Set(values.filter((value) => typeof value === 'string')),
  ];
  const projects = await sql<{ id: string; organization_id: string }>`
    select id, organization_id from projects
    where deleted_at is null
      and id = any (${distinct(records.map((record) => record.project_id))}::uuid[])`.execute(tx);
  const allocations = await sql<{ id: string; project_id: string }>`
    select id, project_id from allocations
    where id = any (${distinct(records.map((record) => record.allocation_id))}::uuid[])`.execute(tx);
  const users = distinct(records.map((record) => record.user_id));
  // Operators cannot read members elsewhere; this reveals only whether they exist.
  const members = await withRole(tx, 'gpuaas_auth', () =>
    sql<{ organization_id: string; user_id: string }>`
      select organization_id, user_id from organization_members where user_id = any (${users}::uuid[])`.execute(
      tx,
    ),
  );
  return {
    projects: new Map(projects.rows.map((row) => [row.id, row.organization_id])),
    allocations: new Map(allocations.rows.map((row) => [row.id, row.project_id])),
    members: new Set(members.rows.map((row) => `${row.organization_id} ${row.user_id}`)),
  };
}
