import type { Tx } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/http/problem.ts';

/** For who needs no standing in it: refuses a tenant that does not exist. */
export async function requireOrganization(tx: Tx, organizationId: string): Promise<void> {
  const row = await tx
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .executeTakeFirst();
  if (!row) throw notFound();
}
