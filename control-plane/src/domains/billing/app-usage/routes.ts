import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { combinedCost } from './combined-cost.ts';
import { createAppPrice } from './create-app-price.ts';
import { GATEWAY_PRODUCER } from './gateway-producer.ts';
import { listAppPrices } from './list-app-prices.ts';
import { recordAppUsage } from './record-app-usage.ts';
import { sumAppUsage } from './sum-app-usage.ts';

type AppUsageOperations = Pick<
  operations,
  'reportAppUsage' | 'getAppUsage' | 'listAppUsage' | 'listAppUsagePrices' | 'createAppUsagePrice'
>;

export function appUsageRoutes(services: Services): Handlers<AppUsageOperations, Caller> {
  const { clock } = services;
  return {
    reportAppUsage({ caller, body, audit, mutate, correlationId }) {
      const target = { targetType: 'app_usage_producer', targetId: body.producer };
      audit(target);
      return mutate(async (tx) => {
        authorize(caller, 'app_usage.report', atPlatform);
        if (body.producer === GATEWAY_PRODUCER)
          throw new Problem('invalid_request', 'This producer is the platform itself.', {
            errors: [{ pointer: '/producer', detail: 'is reserved' }],
          });
        const results = await recordAppUsage(services, tx, {
          ...body,
          actorUserId: caller.userId,
          correlationId,
        });
        const count = (outcome: string) => results.filter((result) => result.outcome === outcome).length;
        const counts = {
          recorded: count('recorded'),
          duplicate: count('duplicate'),
          refused: count('refused'),
        };
        audit({ ...target, detail: counts });
        return { status: 200, body: { results, ...counts } };
      });
    },
    getAppUsage({ caller, query, read }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: query.organization_id });
      return read(async (tx) => ({
        status: 200,
        body: { costs: await combinedCost(tx, query), ...(await sumAppUsage(tx, query)) },
      }));
    },
    listAppUsage({ caller, query, read }) {
      authorize(caller, 'revenue.read', atPlatform);
      return read(async (tx) => ({ status: 200, body: await sumAppUsage(tx, query) }));
    },
    listAppUsagePrices({ caller, query, read }) {
      authorize(caller, 'price.manage', atPlatform);
      return read(async (tx) => ({ status: 200, body: await listAppPrices(tx, query) }));
    },
    createAppUsagePrice({ caller, body, audit, mutate }) {
      const target = { targetType: 'app_usage_price', targetId: `${body.app} ${body.dimension}` };
      audit(target);
      return mutate(async (tx) => {
        authorize(caller, 'price.manage', atPlatform);
        const price = await createAppPrice(tx, { now: clock.now(), callerId: caller.id, body });
        audit({ ...target, after: { ...price } });
        return { status: 201, body: price };
      });
    },
  };
}
