import { isUuid } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { Problem } from '../../platform/http/problem.ts';
import { advancePayment, type PaymentServices } from './advance-payment.ts';
import { nextPollAt } from './next-poll.ts';
import {
  InvalidSignatureError,
  type PaymentProvider,
  type ProviderEvent,
  type ProviderName,
} from './provider.ts';

/**
 * Stores a provider's event after checking its origin; processes it immediately if possible, else shortly
 * afterwards.
 */
export async function receiveEvent(
  services: PaymentServices,
  provider: PaymentProvider | null,
  body: string,
  signature: string,
): Promise<void> {
  const event = readEvent(services, provider, body, signature);
  if (!event || !provider) return;
  await storeEvent(services, provider.name, event);
  try {
    await handleEvent(services, provider, event);
  } catch (error) {
    services.log.warn({ err: error, event: event.ref }, 'an event of the payment provider waits');
  }
}

function readEvent(
  { clock, log }: PaymentServices,
  provider: PaymentProvider | null,
  body: string,
  signature: string,
): ProviderEvent | null {
  try {
    if (!provider) throw new InvalidSignatureError('no provider is set up');
    return provider.readEvent(body, signature, clock.now());
  } catch (error) {
    if (!(error instanceof InvalidSignatureError)) throw error;
    log.warn({ reason: error.message }, 'an event that does not come from the payment provider was refused');
    throw new Problem('provider_signature_invalid', 'The signature is missing, wrong or too old.');
  }
}

/** True if it was not known yet. */
export async function storeEvent(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  provider: string,
  event: ProviderEvent,
): Promise<boolean> {
  const now = clock.now();
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('payment_events')
    .values({
      provider,
      event_ref: event.ref,
      type: event.type,
      about: JSON.stringify(event.about),
      received_at: now,
      next_try_at: nextPollAt(now, 0),
    })
    .onConflict((c) => c.columns(['provider', 'event_ref']).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Polls the payment of an event. Payments of other installations are ignored. */
export async function handleEvent(
  services: PaymentServices,
  provider: PaymentProvider,
  event: Pick<ProviderEvent, 'ref' | 'about'>,
): Promise<void> {
  const { db, clock } = services;
  const done = await db
    .selectFrom('payment_events')
    .select('handled_at')
    .where('provider', '=', provider.name)
    .where('event_ref', '=', event.ref)
    .executeTakeFirst();
  if (done?.handled_at) return;
  const paymentId = await paymentOf(db, provider.name, event.about);
  if (paymentId) await advancePayment(services, provider, paymentId);
  await db
    .updateTable('payment_events')
    .set({ handled_at: clock.now(), next_try_at: null })
    .where('provider', '=', provider.name)
    .where('event_ref', '=', event.ref)
    .execute();
}

async function paymentOf(
  db: Services['db'],
  provider: ProviderName,
  { paymentId, checkoutRef, paymentRef }: ProviderEvent['about'],
): Promise<string | null> {
  const row = await db
    .selectFrom('payments')
    .select('id')
    .where('provider', '=', provider)
    .where((e) =>
      e.or([
        ...(paymentId && isUuid(paymentId) ? [e('id', '=', paymentId)] : []),
        ...(checkoutRef ? [e('checkout_ref', '=', checkoutRef)] : []),
        ...(paymentRef ? [e('payment_ref', '=', paymentRef)] : []),
      ]),
    )
    .executeTakeFirst();
  return row?.id ?? null;
}
