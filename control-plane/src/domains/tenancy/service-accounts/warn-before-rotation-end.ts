import { inBatches } from '../../../platform/db/in-batches.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { emitAll, type NewEvent } from '../../../platform/events/emit.ts';
import { newId, NIL_ID } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';

const BATCH = 200;

/**
 * Notifies people of service accounts that soon cannot renew their own token, once for each token that a
 * person issued.
 */
export const warnBeforeRotationEnd: Tick<Services> = {
  name: 'tenancy.warn_of_rotation_end',
  everySeconds: 600,
  catchUp: 'skip',
  run: (services) => inBatches<{ id: string }>(BATCH, (last) => warnSome(services, last?.id ?? NIL_ID)),
};

/** Returns the last token that it read, or null at the end. */
async function warnSome({ db, clock, policies }: Services, after: string): Promise<{ id: string }[]> {
  const now = clock.now();
  return await db.transaction().execute(async (tx) => {
    const tokens = await unnoticed(tx, now, after);
    const due = tokens
      .map((token) => {
        const scope = { organizationId: token.organization_id, projectId: token.project_id };
        const span = policies.get('auth.service_account_rotation_seconds', scope) * 1000;
        const notice = policies.get('auth.service_account_rotation_notice_seconds', scope) * 1000;
        const endsAt = token.issued_at.getTime() + span;
        return { token, endsAt: new Date(endsAt), from: endsAt - Math.min(notice, span / 2) };
      })
      .filter(({ from, endsAt }) => from <= now.getTime() && endsAt > now);
    if (due.length > 0) {
      await tx
        .updateTable('service_account_tokens')
        .set({ rotation_notice_at: now })
        .where(
          'id',
          'in',
          due.map(({ token }) => token.id),
        )
        .execute();
      await emitAll(tx, due.map(dueEvent));
    }
    return tokens;
  });
}

/** The newest live token of each account; older ones end with the overlap. */
async function unnoticed(tx: Tx, now: Date, after: string) {
  return await tx
    .selectFrom('service_account_tokens as t')
    .innerJoin('service_accounts as s', 's.id', 't.service_account_id')
    .select(['t.id', 't.issued_at', 's.id as account', 's.organization_id', 's.project_id', 's.name'])
    .where('t.revoked_at', 'is', null)
    .where('t.rotation_notice_at', 'is', null)
    .where('t.expires_at', '>', now)
    .where('s.state', '=', 'active')
    .where('t.id', '>', after)
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom('service_account_tokens as newer')
            .select('newer.id')
            .whereRef('newer.service_account_id', '=', 't.service_account_id')
            .whereRef('newer.id', '>', 't.id')
            .where('newer.revoked_at', 'is', null),
        ),
      ),
    )
    .orderBy('t.id')
    .limit(BATCH)
    .forUpdate('t')
    .skipLocked()
    .execute();
}

type Due = { token: Awaited<ReturnType<typeof unnoticed>>[number]; endsAt: Date };

function dueEvent({ token, endsAt }: Due): NewEvent {
  const { account, organization_id, project_id, name } = token;
  return {
    type: 'service_account.rotation_due',
    subjectId: account,
    organizationId: organization_id,
    correlationId: newId(),
    payload: {
      service_account_id: account,
      organization_id,
      project_id,
      name,
      ends_at: endsAt.toISOString(),
    },
  };
}
