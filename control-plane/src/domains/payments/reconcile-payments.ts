import { sql } from 'kysely';
import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import { advancePayment, type PaymentServices } from './advance-payment.ts';
import type { PaymentProvider, ProviderEvent } from './provider.ts';
import { handleEvent, storeEvent } from './receive-event.ts';

/** Looked at in one run; the rest follows in the next. */
const AT_ONCE = 100;
/** Stripe tells late or twice; what it told in this time is compared with what arrived. */
const OVERLAP = 3 * 86_400_000;

/** Asks the provider about everything that is not over: what it told, or we asked, may have been lost. */
export function reconcilePayments(provider: PaymentProvider): Tick<Services> {
  return {
    name: 'payments.reconcile',
    everySeconds: 10,
    catchUp: 'skip',
    run: (services) => reconcileAll(services, provider),
  };
}

/** Fetches what the provider told and we did not hear, such as while we were away. */
export function fetchMissedEvents(provider: PaymentProvider): Tick<Services> {
  return {
    name: 'payments.fetch_missed_events',
    everySeconds: 900,
    catchUp: 'skip',
    run: async (services) => {
      await fetchMissed(services, provider);
    },
  };
}

export async function reconcileAll(services: PaymentServices, provider: PaymentProvider): Promise<void> {
  for (const { event_ref, about } of await takeDueEvents(services, provider)) {
    await attempt(services, { event: event_ref }, () =>
      handleEvent(services, provider, { ref: event_ref, about: about as ProviderEvent['about'] }),
    );
  }
  for (const id of await takeDuePayments(services, provider)) {
    await attempt(services, { payment_id: id }, () => advancePayment(services, provider, id));
  }
}

export async function fetchMissed(services: PaymentServices, provider: PaymentProvider): Promise<number> {
  let missed = 0;
  for await (const event of provider.eventsSince(new Date(services.clock.now().getTime() - OVERLAP))) {
    if (!(await storeEvent(services, provider.name, event))) continue;
    missed += 1;
    await attempt(services, { event: event.ref }, () => handleEvent(services, provider, event));
  }
  if (missed > 0) services.log.info({ missed }, 'events of the payment provider that had not arrived');
  return missed;
}

/** Taking moves the next look away, so that two workers do not ask for the same, and a failing one does not hold up others. */
async function takeDuePayments({ db, clock }: PaymentServices, provider: PaymentProvider): Promise<string[]> {
  const now = clock.now();
  const { rows } = await sql<{ id: string }>`
    with due as (
      select id from payments where next_look_at <= ${now} and provider = ${provider.name}
      order by next_look_at limit ${AT_ONCE} for update skip locked
    ), taken as (
      update payments p set looks = p.looks + 1,
        next_look_at = ${now}::timestamptz + least(900, 5 * 2 ^ least(p.looks, 20)) * interval '1 second'
      from due where p.id = due.id returning p.id
    ), due_refunds as (
      select r.id from payment_refunds r join payments p on p.id = r.payment_id
      where r.next_look_at <= ${now} and p.provider = ${provider.name}
      order by r.next_look_at limit ${AT_ONCE} for update of r skip locked
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
  const { rows } = await sql<{ event_ref: string; about: unknown }>`
    with due as (
      select provider, event_ref from payment_events where next_try_at <= ${now} and provider = ${provider.name}
      order by next_try_at limit ${AT_ONCE} for update skip locked
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
