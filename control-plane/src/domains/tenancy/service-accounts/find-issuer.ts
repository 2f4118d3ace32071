import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';

export interface Issuer {
  issued_by: string | null;
  issued_at: Date;
  rotation_notice_at: Date | null;
  /** Until when tokens can be issued without a person. */
  endsAt: Date;
}

/**
 * The person responsible for a new token. A service account issues it in the name of the person who issued
 * its own, for the time that the policy allows: otherwise a token could renew itself, or two accounts each
 * other, after every person behind it has left.
 */
export async function findIssuer(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  { credential, userId }: Caller,
  scope: { organizationId: string; projectId: string },
): Promise<Issuer> {
  const now = clock.now();
  const span = policies.get('auth.service_account_rotation_seconds', scope) * 1000;
  const until = (issued: Date): Date => new Date(issued.getTime() + span);
  if (credential.kind !== 'service_account_token')
    return { issued_by: userId, issued_at: now, rotation_notice_at: null, endsAt: until(now) };
  const own = await tx
    .selectFrom('service_account_tokens')
    .select(['issued_by', 'issued_at', 'rotation_notice_at'])
    .where('id', '=', credential.id)
    .executeTakeFirstOrThrow();
  const endsAt = until(own.issued_at);
  if (endsAt > now) return { ...own, endsAt };
  throw new Problem(
    'rotation_needs_person',
    `A person last issued a token at ${own.issued_at.toISOString()}; ask one to rotate it.`,
  );
}
