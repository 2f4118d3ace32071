import type { Tx } from '../../../platform/db/database.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { getOnboarding, type NodeOnboarding } from './list-onboardings.ts';

/** Records the cancellation; the workflow sees it at its next poll and returns the machine. */
export async function cancelOnboarding(
  tx: Tx,
  now: Date,
  { onboardingId, requestedBy }: { onboardingId: string; requestedBy: string },
): Promise<NodeOnboarding> {
  const row = await tx
    .selectFrom('node_onboardings')
    .select(['state', 'cancel_requested_at'])
    .where('id', '=', onboardingId)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  if (row.state !== 'running') throw new Problem('onboarding_ended', `It has ${row.state} already.`);
  if (!row.cancel_requested_at) {
    await tx
      .updateTable('node_onboardings')
      .set({ cancel_requested_by: requestedBy, cancel_requested_at: now })
      .where('id', '=', onboardingId)
      .execute();
  }
  return await getOnboarding(tx, onboardingId);
}
