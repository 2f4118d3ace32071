import type { Db, Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { newSshKeyPair } from './ssh-key-pair.ts';

/** The gateway's login for one allocation: public half into the machine, private half sealed, gone at release. */
export async function createAccessKey(services: Services, tx: Tx, allocationId: string): Promise<void> {
  const existing = await tx
    .selectFrom('allocation_access_keys')
    .select('allocation_id')
    .where('allocation_id', '=', allocationId)
    .executeTakeFirst();
  if (existing) return;
  const pair = newSshKeyPair(`gateway-${allocationId}`);
  await tx
    .insertInto('allocation_access_keys')
    .values({
      allocation_id: allocationId,
      public_key: pair.public,
      sealed_private_key: services.sealer.seal('access_key', pair.private, allocationId),
    })
    .execute();
}

export async function accessPublicKey(db: Db | Tx, allocationId: string): Promise<string> {
  const row = await db
    .selectFrom('allocation_access_keys')
    .select('public_key')
    .where('allocation_id', '=', allocationId)
    .executeTakeFirstOrThrow();
  return row.public_key;
}

export async function decryptAccessKey(
  services: Pick<Services, 'db' | 'sealer'>,
  allocationId: string,
): Promise<string | null> {
  const row = await services.db
    .selectFrom('allocation_access_keys')
    .select('sealed_private_key')
    .where('allocation_id', '=', allocationId)
    .executeTakeFirst();
  return row ? services.sealer.open('access_key', row.sealed_private_key, allocationId) : null;
}

export async function destroyAccessKey(tx: Tx, allocationId: string): Promise<void> {
  await tx.deleteFrom('allocation_access_keys').where('allocation_id', '=', allocationId).execute();
}
