import type { Services } from '../../platform/services.ts';
import { paymentAdminRoutes } from './admin-routes.ts';
import { endAutoTopUp } from './auto-top-up/end-auto-top-up.ts';
import { topUpBalances } from './auto-top-up/top-up-balances.ts';
import type { PaymentProvider } from './provider.ts';
import { fetchMissedEvents, reconcilePayments } from './reconcile-payments.ts';
import { paymentRoutes } from './routes.ts';
import { watchPayments } from './watch-payments.ts';

interface PaymentContext {
  services: Services;
  payments: { worker: Services; provider: PaymentProvider | null };
}

export const paymentsModule = {
  routes: ({ services, payments }: PaymentContext) => ({
    ...paymentRoutes(services, payments),
    ...paymentAdminRoutes(services, payments),
  }),
  ticks: ({ paymentProvider }: { paymentProvider: PaymentProvider | null }) => [
    ...(paymentProvider
      ? [
          reconcilePayments(paymentProvider),
          fetchMissedEvents(paymentProvider),
          topUpBalances(paymentProvider),
        ]
      : []),
    watchPayments,
  ],
  closing: [endAutoTopUp],
};
