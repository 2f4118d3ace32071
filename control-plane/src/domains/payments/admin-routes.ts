import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { tryAdvancePayment } from './advance-payment.ts';
import { listPayments, showPayment } from './list-payments.ts';
import type { PaymentProvider } from './provider.ts';
import { recordPayment } from './record-payment.ts';
import { requestRefund } from './refunds/request-refund.ts';

type AdminOperations = Pick<operations, 'listPaymentsOfTenants' | 'recordPayment' | 'refundPayment'>;

export function paymentAdminRoutes(
  services: Services,
  { worker, provider }: { worker: Services; provider: PaymentProvider | null },
): Handlers<AdminOperations, Caller> {
  return {
    listPaymentsOfTenants({ caller, query, read }) {
      authorize(caller, 'payment.manage', atPlatform);
      return read(async (tx) => ({ status: 200, body: await listPayments(tx, query) }));
    },
    recordPayment({ caller, params: { organization_id }, body, correlationId, audit, mutate }) {
      audit({ targetType: 'organization', targetId: organization_id });
      return mutate(async (tx) => {
        authorize(caller, 'payment.manage', atPlatform);
        const by = { userId: caller.userId, correlationId };
        const id = await recordPayment(services, tx, organization_id, body, by);
        const { amount, reference } = body;
        audit({
          targetType: 'payment',
          targetId: id,
          organizationId: organization_id,
          after: { amount, reference },
        });
        return { status: 201, body: await showPayment(tx, id) };
      });
    },
    async refundPayment({ caller, params: { payment_id }, body, audit, mutate, read }) {
      audit({ targetType: 'payment', targetId: payment_id });
      await mutate(async (tx) => {
        authorize(caller, 'payment.manage', atPlatform);
        const { organization_id } = await requestRefund(services, tx, payment_id, body, caller.userId);
        audit({
          targetType: 'payment',
          targetId: payment_id,
          organizationId: organization_id,
          detail: { amount: body.amount, reason: body.reason },
        });
        return { status: 202, body: await showPayment(tx, payment_id) };
      });
      await tryAdvancePayment(worker, provider, payment_id);
      return { status: 202, body: await read((tx) => showPayment(tx, payment_id)) };
    },
  };
}
