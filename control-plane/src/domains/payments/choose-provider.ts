import { systemClock } from '../../platform/clock.ts';
import type { Services } from '../../platform/services.ts';
import type { PaymentProvider } from './provider.ts';
import { stripeProvider, type StripeSettings } from './stripe/stripe-provider.ts';
import { testProvider } from './test-provider/test-provider.ts';

/** Stripe if configured, test cards in the demo, else none: operators record payments manually. */
export function chooseProvider(
  worker: Pick<Services, 'db'>,
  settings: { stripe: StripeSettings | null; isDemo: boolean; publicUrl: string },
): PaymentProvider | null {
  if (settings.stripe) return stripeProvider(settings.stripe, settings.publicUrl);
  return settings.isDemo ? testProvider({ db: worker.db, clock: systemClock }) : null;
}
