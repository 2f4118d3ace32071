import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import { getMe } from './get-me.ts';

type TenancyOperations = Pick<operations, 'getMe'>;

export function tenancyRoutes(): Handlers<TenancyOperations, Caller> {
  return {
    async getMe({ caller, query, read }) {
      return { status: 200, body: await read((tx) => getMe(tx, caller, query.page)) };
    },
  };
}
