import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import type { Services } from '../../../platform/services.ts';
import { createPrice } from './create-price.ts';
import { listPrices } from './list-prices.ts';
import { withdrawPrice } from './withdraw-price.ts';

type PriceOperations = Pick<operations, 'listPrices' | 'createPrice' | 'withdrawPrice'>;

export function priceRoutes({
  clock,
  policies,
}: Pick<Services, 'clock' | 'policies'>): Handlers<PriceOperations, Caller> {
  return {
    async listPrices({ caller, query, read }) {
      authorize(caller, 'price.manage', atPlatform);
      return { status: 200, body: await read((tx) => listPrices(tx, query)) };
    },
    createPrice({ caller, body, audit, mutate }) {
      audit({ targetType: 'sku', targetId: body.sku });
      return mutate(async (tx) => {
        authorize(caller, 'price.manage', atPlatform);
        const price = await createPrice(policies, tx, { now: clock.now(), callerId: caller.id, body });
        audit({
          targetType: 'price',
          targetId: price.id,
          organizationId: price.organization_id,
          detail: {
            sku: price.sku,
            region: price.region,
            per_gpu_hour: price.per_gpu_hour,
            effective_from: price.effective_from,
            reason: price.reason,
          },
        });
        return { status: 201, body: price };
      });
    },
    withdrawPrice({ caller, params, audit, mutate }) {
      audit({ targetType: 'price', targetId: params.price_id });
      return mutate(async (tx) => {
        authorize(caller, 'price.manage', atPlatform);
        await withdrawPrice(tx, clock.now(), params.price_id);
        return { status: 204, body: undefined };
      });
    },
  };
}
