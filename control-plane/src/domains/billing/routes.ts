import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import { moneyJson } from '../../platform/money.ts';
import type { Services } from '../../platform/services.ts';
import { adjustBalance } from './ledger/adjust-balance.ts';
import { describeTransaction } from './ledger/describe-transaction.ts';
import { describeSpend } from './funds/describe-spend.ts';
import { getBalances } from './ledger/get-balance.ts';
import { listAccruals } from './metering/list-accruals.ts';
import { listLedger } from './ledger/list-ledger.ts';
import { listUsage } from './metering/list-usage.ts';

type BillingOperations = Pick<
  operations,
  'getBalance' | 'listLedger' | 'getSpend' | 'listAccruals' | 'listUsage' | 'postLedgerAdjustment'
>;

export function billingRoutes(services: Services): Handlers<BillingOperations, Caller> {
  const { clock } = services;
  return {
    getBalance({ caller, query: { organization_id }, read }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: organization_id });
      return read(async (tx) => {
        const balances = await getBalances(tx, organization_id);
        const as_of = clock.now().toISOString();
        return { status: 200, body: { organization_id, balances: balances.map(moneyJson), as_of } };
      });
    },
    listLedger({ caller, query, read }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: query.organization_id });
      return read(async (tx) => ({ status: 200, body: await listLedger(tx, query) }));
    },
    getSpend({ caller, query: { organization_id, project_id }, read }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: organization_id });
      return read(async (tx) => ({
        status: 200,
        body: {
          organization_id,
          project_id: project_id ?? null,
          as_of: clock.now().toISOString(),
          spend: await describeSpend(services, tx, {
            organizationId: organization_id,
            projectId: project_id,
          }),
        },
      }));
    },
    listAccruals({ caller, query, read }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: query.organization_id });
      return read(async (tx) => ({
        status: 200,
        body: await listAccruals(services, tx, query),
      }));
    },
    listUsage({ caller, query, read }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: query.organization_id });
      return read(async (tx) => ({ status: 200, body: await listUsage(tx, query) }));
    },
    postLedgerAdjustment({ caller, params, body, correlationId, audit, mutate }) {
      const organizationId = params.organization_id;
      const target = { targetType: 'organization', targetId: organizationId };
      audit(target);
      return mutate(async (tx) => {
        authorize(caller, 'billing.adjust', atPlatform);
        const posted = await adjustBalance(tx, {
          organizationId,
          actorUserId: caller.userId,
          correlationId,
          body,
        });
        const { kind, amount, reason } = body;
        audit({
          ...target,
          organizationId,
          detail: { transaction_id: posted.transaction.id, kind, amount, reason },
        });
        return { status: 201, body: describeTransaction(posted) };
      });
    },
  };
}
