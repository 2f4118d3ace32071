import { sql } from 'kysely';
import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import { advancePayment, type PaymentServices } from './advance-payment.ts';
import type { PaymentProvider, ProviderEvent } from './provider.ts';
import { handleEvent, storeEvent } from './receive-event.ts';

/** Payments per run; the rest follows in the next. */
const BATCH = 100;
/** Stripe reports late or twice; its events of this period are compared with those that arrived. */
const OVERLAP = 3 * 86_400_000;

/** Polls the provider about every open payment: events or our requests may have been lost. */
export function reconcilePayments(provider: PaymentProvider): Tick<Services> {
  return {
    name: 'payments.reconcile',
    everySeconds: 10,
    catchUp: 'skip',
    run: (services) => reconcileDue(services, provider),
  };
}

/** Fetches events that did not reach us, for example during downtime. */
export function fetchMissedEvents(provider: PaymentProvider): Tick<Services> {
  return {
    name: 'payments.fetch_missed_events',
    everySeconds: 900,
    catchUp: 'skip',
    run: async (services) => {
      await fetchMissedOnce(services, provider);
    },
  };
}

export async function reconcileDue(services: PaymentServices, provider: PaymentProvider): Promise<void> {
  for (const { event_ref, about } of await takeDueEvents(services, provider)) {
    await attempt(services, { event: event_ref }, () =>
      handleEvent(services, provider, { ref: event_ref, about }),
    );
  }
  for (const id of await takeDuePayments(services, provider)) {
    await attempt(services, { payment_id: id }, () => advancePayment(services, provider, id));
  }
}

export async function fetchMissedOnce(services: PaymentServices, provider: PaymentProvider): Promise<number> {
  let missed = 0;
  for await (const event of provider.eventsSince(new Date(services.clock.now().getTime() - OVERLAP))) {
    if (!(await storeEvent(services, provider.name, event))) continue;
    missed += 1;
    await attempt(services, { event: event.ref }, () => handleEvent(services, provider, event));
  }
  if (missed > 0) services.log.info({ missed }, 'events of the payment provider that had not arrived');
  return missed;
}

/**
 * Claiming a payment postpones its next poll, so that two workers do not poll the same one, and a failing one
 * does not block others.
 */
async function takeDuePayments({ db, clock }: PaymentServices, provider: PaymentProvider): Promise<string[]> {
  const now = clock.now();
  const { rows } = await sql<{ id: string }>`
    with due as (
      select id from payments where next_look_at <= ${now} and provider = ${provider.name}
      order by next_look_at limit ${BATCH} for update skip locked
    ), taken as (
      update payments p set looks = p.looks + 1,
        next_look_at = ${now}::timestamptz + least(900, 5 * 2 ^ least(p.looks, 20)) * interval '1 second'
      from due where p.id = due.id returning p.id
    ), due_refunds as (
      select r.id from payment_refunds r join payments p on p.id = r.payment_id
      where r.next_look_at <= ${now} and p.provider = ${provider.name}
      order by r.next_look_at limit ${BATCH} for update of r skip locked
    ), taken_refunds as (
      update payment_refunds r set looks = r.looks + 1,
        next_look_at = ${now}::timestamptz + least(900, 5 * 2 ^ least(r.looks, 20)) * interval '1 second'
      from due_refunds d where r.id = d.id returning r.payment_id as id
    )
    select id from taken union select id from taken_refunds order by id`.execute(db);
  return rows.map(({ id }) => id);
}

async function takeDueEvents({ db, clock }: PaymentServices, provider: PaymentProvider) {
  const now = clock.now();
  const { rows } = await sql<{ event_ref: string; about: ProviderEvent['about'] }>`
    with due as (
      select provider, event_ref from payment_events where next_try_at <= ${now} and provider = ${provider.name}
      order by next_try_at limit ${BATCH} for update skip locked
    )
    update payment_events e set tries = e.tries + 1,
      next_try_at = ${now}::timestamptz + least(900, 5 * 2 ^ least(e.tries, 20)) * interval '1 second'
    from due where e.provider = due.provider and e.event_ref = due.event_ref
    returning e.event_ref, e.about`.execute(db);
  return rows;
}

async function attempt(
  { log }: PaymentServices,
  about: Record<string, string>,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.warn({ err: error, ...about }, 'the payment provider could not be asked');
  }
}
