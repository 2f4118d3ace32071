import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';

/** People who belong to a tenant because its identity provider introduced them. */
export async function listHomeUsers(tx: Tx, organizationId: string): Promise<string[]> {
  const rows = await withRole(tx, 'gpuaas_auth', () =>
    tx.selectFrom('users').select('id').where('home_organization_id', '=', organizationId).execute(),
  );
  return rows.map(({ id }) => id);
}
