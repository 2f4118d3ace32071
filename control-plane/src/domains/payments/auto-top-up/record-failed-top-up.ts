import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';

/** A charge failed: the next one waits, so that a broken card is not tried again and again. */
export async function recordFailedTopUp(
  { policies }: Pick<Services, 'policies'>,
  tx: Tx,
  payment: { organization_id: string },
  reason: string,
  now: Date,
): Promise<void> {
  const organizationId = payment.organization_id;
  const wait = policies.get('payments.auto_top_up_wait_seconds', { organizationId });
  await tx
    .updateTable('auto_top_ups')
    .set({ waits_until: new Date(now.getTime() + wait * 1000), last_failure: reason.slice(0, 500) })
    .where('organization_id', '=', organizationId)
    .execute();
}
