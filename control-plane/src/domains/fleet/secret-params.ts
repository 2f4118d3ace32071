import type { Tx } from '../../platform/db/database.ts';
import type { Sealer } from '../../platform/keys/seal.ts';

/** What a task needs and no task is stored with: opened for the host that claims it, and signed with the rest. */
export async function secretParams(
  sealer: Pick<Sealer, 'open'>,
  tx: Tx,
  task: { kind: string; allocation_id: string | null },
): Promise<Record<string, unknown>> {
  if (task.kind !== 'slice.vm_provision' || task.allocation_id === null) return {};
  const kept = await tx
    .selectFrom('allocation_user_data')
    .select('sealed')
    .where('allocation_id', '=', task.allocation_id)
    .executeTakeFirst();
  return kept ? { user_data: sealer.open(kept.sealed, task.allocation_id) } : {};
}
