import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { describeEnrolment, ENROLMENT_COLUMNS } from './list-enrolments.ts';

/** Invalidates the token. For a used token revoke the host's identity instead. */
export async function revokeEnrolment(
  tx: Tx,
  now: Date,
  enrolmentId: string,
): Promise<components['schemas']['NodeEnrolment']> {
  const row = await tx
    .selectFrom('node_enrolments')
    .select(ENROLMENT_COLUMNS)
    .where('id', '=', enrolmentId)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  if (row.used_at)
    throw new Problem('enrolment_closed', 'A host has used it; revoke the identity of the host.');
  const revokedAt = row.revoked_at ?? now;
  await tx
    .updateTable('node_enrolments')
    .set({ revoked_at: revokedAt })
    .where('id', '=', enrolmentId)
    .execute();
  return describeEnrolment({ ...row, revoked_at: revokedAt }, now);
}
