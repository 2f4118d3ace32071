import type { Tx } from '../../platform/db/database.ts';

/** Those of the names that are no secrets of the project. */
export async function missingSecrets(tx: Tx, projectId: string, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const rows = await tx
    .selectFrom('project_secrets')
    .select('name')
    .where('project_id', '=', projectId)
    .where('name', 'in', names)
    .execute();
  const known = new Set(rows.map(({ name }) => name));
  return names.filter((name) => !known.has(name));
}
