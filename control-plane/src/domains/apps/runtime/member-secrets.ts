import type { Db } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { openSecrets } from '../../secrets/open-secrets.ts';

type SecretServices = Pick<Services, 'db' | 'sealer'>;

/**
 * The values that a member starts with, kept sealed for its log: a secret that is replaced later still stands in it. A
 * second start gets the values of the first. `own` are those that the platform gives it.
 */
export async function takeSecrets(
  { db, sealer }: SecretServices,
  memberId: string,
  projectId: string,
  names: readonly string[],
  own: ReadonlyMap<string, string> = new Map(),
): Promise<Map<string, string>> {
  if (names.length === 0 && own.size === 0) return new Map();
  return await db.transaction().execute(async (tx) => {
    const values = new Map([...(await openSecrets({ sealer }, tx, projectId, names)), ...own]);
    const kept = await tx
      .insertInto('app_member_secrets')
      .values({
        member_id: memberId,
        sealed_values: sealer.seal('app_member_secrets', JSON.stringify([...values]), context(memberId)),
      })
      .onConflict((c) => c.column('member_id').doNothing())
      .returning('member_id')
      .executeTakeFirst();
    return kept ? values : await readSecrets({ db: tx, sealer }, memberId);
  });
}

/** The values that a member started with. */
export async function readSecrets(
  { db, sealer }: { db: Db; sealer: Services['sealer'] },
  memberId: string,
): Promise<Map<string, string>> {
  const row = await db
    .selectFrom('app_member_secrets')
    .select('sealed_values')
    .where('member_id', '=', memberId)
    .executeTakeFirst();
  if (!row) return new Map();
  return valuesOf(JSON.parse(sealer.open('app_member_secrets', row.sealed_values, context(memberId))));
}

/** The seal proves that these are the entries that were sealed. */
function valuesOf(entries: Iterable<[string, string]>): Map<string, string> {
  return new Map(entries);
}

function context(memberId: string): string {
  return `app_member:${memberId}`;
}
