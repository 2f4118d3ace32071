import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { entriesOf } from '@gpuaas/contracts/typed-keys';
import { authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import { tryAdvancePayment } from './advance-payment.ts';
import { describeAutoTopUp, setAutoTopUp } from './auto-top-up/set-auto-top-up.ts';
import { listMethods } from './methods/list-methods.ts';
import { findPayment, listPayments, showPayment } from './list-payments.ts';
import { paymentLimits } from './payment-limits.ts';
import type { PaymentProvider } from './provider.ts';
import { receiveEvent } from './receive-event.ts';
import { findMethod, removeMethod } from './methods/remove-method.ts';
import { startPayment } from './start-payment.ts';
import { testCards } from './test-provider/test-cards.ts';
import { payWithTestCard } from './test-provider/test-provider.ts';

type PaymentOperations = Pick<
  operations,
  | 'getPaymentOptions'
  | 'listPayments'
  | 'createPayment'
  | 'getPayment'
  | 'payWithTestCard'
  | 'listPaymentMethods'
  | 'removePaymentMethod'
  | 'getAutoTopUp'
  | 'setAutoTopUp'
  | 'receiveStripeEvent'
>;

/** `worker` acts for the platform: only it writes a provider's data. */
export function paymentRoutes(
  services: Services,
  { worker, provider }: { worker: Services; provider: PaymentProvider | null },
): Handlers<PaymentOperations, Caller> {
  const { clock } = services;
  return {
    getPaymentOptions({ caller, query: { organization_id } }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: organization_id });
      const { minimum, maximum } = paymentLimits(services, organization_id);
      const cards = entriesOf(testCards);
      const test_cards =
        provider?.name === 'test'
          ? cards.map(([card, { whatHappens }]) => ({ card, what_happens: whatHappens }))
          : [];
      const body = { organization_id, provider: provider?.name ?? null, minimum, maximum, test_cards };
      return Promise.resolve({ status: 200 as const, body });
    },
    listPayments({ caller, query, read }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: query.organization_id });
      return read(async (tx) => ({ status: 200, body: await listPayments(tx, query) }));
    },
    async createPayment({ caller, body, correlationId, audit, mutate, read }) {
      const organizationId = body.organization_id;
      audit({ targetType: 'organization', targetId: organizationId });
      const { body: started } = await mutate(async (tx) => {
        authorize(caller, 'payment.create', { kind: 'tenant', organizationId });
        const by = { userId: caller.userId, correlationId };
        const id = await startPayment(services, tx, provider?.name ?? null, body, by);
        audit({ targetType: 'payment', targetId: id, organizationId, after: { amount: body.amount } });
        return { status: 202, body: await showPayment(tx, id) };
      });
      await tryAdvancePayment(worker, provider, started.id);
      const payment = await read((tx) => showPayment(tx, started.id));
      return { status: 202, body: payment, location: `/api/v1/billing/payments/${payment.id}` };
    },
    getPayment({ caller, params: { payment_id }, read }) {
      return read(async (tx) => {
        const { organization_id } = await findPayment(tx, payment_id);
        authorize(caller, 'billing.read', { kind: 'tenant', organizationId: organization_id });
        return { status: 200, body: await showPayment(tx, payment_id) };
      });
    },
    async payWithTestCard({ caller, params: { payment_id }, body: { card }, audit, mutate, read }) {
      audit({ targetType: 'payment', targetId: payment_id });
      await mutate(async (tx) => {
        const payment = await findPayment(tx, payment_id);
        const organizationId = payment.organization_id;
        audit({ targetType: 'payment', targetId: payment_id, organizationId, detail: { card } });
        authorize(caller, 'payment.create', { kind: 'tenant', organizationId });
        if (provider?.name !== 'test' || payment.provider !== 'test' || payment.state !== 'open') {
          throw new Problem('payment_not_open', 'Only an open test payment is paid with a test card.');
        }
        return { status: 200, body: await showPayment(tx, payment_id) };
      });
      await payWithTestCard(worker, payment_id, card);
      await tryAdvancePayment(worker, provider, payment_id);
      return { status: 200, body: await read((tx) => showPayment(tx, payment_id)) };
    },
    listPaymentMethods({ caller, query, read }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: query.organization_id });
      return read(async (tx) => ({ status: 200, body: await listMethods(tx, query) }));
    },
    removePaymentMethod({ caller, params: { payment_method_id }, audit, mutate }) {
      const target = { targetType: 'payment_method', targetId: payment_method_id };
      audit(target);
      return mutate(async (tx) => {
        const { organizationId } = await findMethod(tx, payment_method_id);
        audit({ ...target, organizationId });
        authorize(caller, 'payment.create', { kind: 'tenant', organizationId });
        await removeMethod(tx, payment_method_id, clock.now());
        return { status: 204, body: undefined };
      });
    },
    getAutoTopUp({ caller, query: { organization_id }, read }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: organization_id });
      return read(async (tx) => ({
        status: 200,
        body: await describeAutoTopUp(tx, organization_id, clock.now()),
      }));
    },
    setAutoTopUp({ caller, body, audit, mutate }) {
      const organizationId = body.organization_id;
      const { enabled, threshold, amount, monthly_cap } = body;
      audit({ targetType: 'organization', targetId: organizationId });
      return mutate(async (tx) => {
        authorize(caller, 'payment.create', { kind: 'tenant', organizationId });
        await setAutoTopUp(services, tx, provider?.name ?? null, body);
        audit({
          targetType: 'organization',
          targetId: organizationId,
          organizationId,
          after: { enabled, threshold, amount, monthly_cap },
        });
        return { status: 200, body: await describeAutoTopUp(tx, organizationId, clock.now()) };
      });
    },
    async receiveStripeEvent({ request }) {
      const signature = request.headers['stripe-signature'];
      await receiveEvent(
        worker,
        provider?.name === 'stripe' ? provider : null,
        request.rawBody ?? '',
        typeof signature === 'string' ? signature : '',
      );
      return { status: 204, body: undefined };
    },
  };
}
