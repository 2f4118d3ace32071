import type { Tx } from '../db/database.ts';
import type { PlatformKeys } from '../keys/platform-keys.ts';
import { signStatement, type Retirement } from './checkpoint.ts';

/** Records that the rows of a month were dropped on purpose; `verifyAudit` then misses none of them. */
export async function recordRetirement(
  tx: Tx,
  { audit }: Pick<PlatformKeys, 'audit'>,
  retired: Omit<Retirement, 'key_id'>,
): Promise<void> {
  const statement: Retirement = { ...retired, key_id: audit.id };
  await tx
    .insertInto('audit_retirements')
    .values({
      ...statement,
      first_segment: BigInt(statement.first_segment),
      last_segment: BigInt(statement.last_segment),
      row_count: BigInt(statement.row_count),
      signature: signStatement(statement, audit.privateKey),
    })
    .execute();
}
