import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import { secretContext } from './describe-secret.ts';

/** Some of the names are no secrets of the project. */
export class MissingSecretsError extends Error {
  readonly names: readonly string[];

  constructor(names: readonly string[]) {
    super(`the project has no secret ${names.join(', ')}`);
    this.name = 'MissingSecretsError';
    this.names = names;
  }
}

/**
 * Values of a project's secrets by name, for the process that starts its app instances. The transaction must act under the
 * one database role that may read them (`0151_project_secrets.sql`).
 */
export async function openSecrets(
  { sealer }: Pick<Services, 'sealer'>,
  tx: Tx,
  projectId: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  if (names.length === 0) return new Map();
  const rows = await tx
    .selectFrom('project_secrets')
    .select(['id', 'name', 'sealed_value'])
    .where('project_id', '=', projectId)
    .where('name', 'in', names)
    .execute();
  const values = new Map(
    rows.map(({ id, name, sealed_value: sealed }) => [
      name,
      sealer.open('project_secret', sealed, secretContext(id)),
    ]),
  );
  const missing = names.filter((name) => !values.has(name));
  if (missing.length > 0) throw new MissingSecretsError([...new Set(missing)]);
  return values;
}
