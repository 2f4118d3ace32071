import { systemClock } from '../../../platform/clock.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { emitAll, type NewEvent } from '../../../platform/events/emit.ts';
import { newId } from '../../../platform/ids.ts';
import type { MemberRow } from '../members/find-member.ts';
import { first } from '../../../platform/present.ts';

/** Live tokens that the person issued, or that belong to an account they own: the person may know the secret. */
function tokensOf(tx: Tx, { organization_id, user_id }: MemberRow) {
  return tx
    .selectFrom('service_account_tokens as t')
    .innerJoin('service_accounts as s', 's.id', 't.service_account_id')
    .where('t.organization_id', '=', organization_id)
    .where('t.revoked_at', 'is', null)
    .where('t.expires_at', '>', systemClock.now())
    .where((e) => e.or([e('t.issued_by', '=', user_id), e('s.owner_user_id', '=', user_id)]));
}

export async function countTokensOfPerson(tx: Tx, member: MemberRow): Promise<number> {
  const { count } = await tokensOf(tx, member)
    .select((e) => e.fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Revokes them and notifies the people who maintain the accounts. Runs before the accounts get another owner. */
export async function revokeTokensOfPerson(tx: Tx, member: MemberRow): Promise<void> {
  const tokens = await tokensOf(tx, member)
    .select(['t.id', 's.id as account', 's.project_id', 's.name'])
    .orderBy('s.id')
    .execute();
  if (tokens.length === 0) return;
  await tx
    .updateTable('service_account_tokens')
    .set({ revoked_at: systemClock.now() })
    .where(
      'id',
      'in',
      tokens.map(({ id }) => id),
    )
    .execute();
  const events = [...Map.groupBy(tokens, ({ account }) => account)].map(([account, of]): NewEvent => ({
    type: 'service_account.tokens_revoked',
    subjectId: account,
    organizationId: member.organization_id,
    correlationId: newId(),
    payload: {
      service_account_id: account,
      organization_id: member.organization_id,
      project_id: first(of, 'token').project_id,
      name: first(of, 'token').name,
      revoked: of.length,
      left_by: member.email,
    },
  }));
  await emitAll(tx, events);
}
