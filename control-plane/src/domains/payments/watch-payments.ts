import { sql } from 'kysely';
import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import { syncIncidents, type IncidentCondition } from '../incidents/sync-incidents.ts';

/** Enough to see the fault; the rest follows when these are resolved. */
const SHOWN = 100;

/** Opens incidents for overdue payments, refunds and unprocessed events. */
export const watchPayments: Tick<Services> = {
  name: 'payments.watch',
  everySeconds: 60,
  catchUp: 'skip',
  run: async (services) => {
    const { db, clock } = services;
    await db.transaction().execute(async (tx) => {
      const stuck = await findStuckPayments(services, tx);
      await syncIncidents(tx, clock.now(), 'payment_stuck', stuck, 'It moved on.');
    });
  },
};

export async function findStuckPayments(
  { policies, clock }: Pick<Services, 'policies' | 'clock'>,
  tx: Services['db'],
): Promise<IncidentCondition[]> {
  const now = clock.now();
  const before = (seconds: number) => new Date(now.getTime() - seconds * 1000);
  const settle = before(policies.get('payments.settle_deadline_seconds'));
  const provider = before(policies.get('payments.provider_deadline_seconds'));
  const { rows } = await sql<{ type: string; id: string; what: string; organization_id: string | null }>`
    select 'payment' as type, id::text, 'is ' || state || ' since ' || created_at::date as what, organization_id
    from payments where next_look_at is not null
      and (created_at < ${settle} or state = 'created' and created_at < ${provider}
        or state = 'open' and expires_at < ${provider})
    union all
    select 'refund', id::text, 'is ' || state || ' since ' || created_at::date, organization_id
    from payment_refunds where next_look_at is not null
      and (created_at < ${settle} or state = 'requested' and created_at < ${provider})
    union all
    select 'payment_event', event_ref, 'could not be acted upon in ' || tries || ' tries', null
    from payment_events where handled_at is null and received_at < ${provider}
    order by 1, 2 limit ${SHOWN}`.execute(tx);
  return rows.map(({ type, id, what, organization_id }) => ({
    targetType: type,
    targetId: id,
    summary: `The ${type.replaceAll('_', ' ')} ${what}.`,
    detail: organization_id ? { organization_id } : {},
  }));
}
