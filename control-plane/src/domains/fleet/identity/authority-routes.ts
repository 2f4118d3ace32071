import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import type { Services } from '../../../platform/services.ts';
import { getAuthority, listAuthorities } from './list-authorities.ts';
import { retireAuthority } from './retire-authority.ts';
import { rotateAuthority } from './rotate-authority.ts';

type AuthorityOperations = Pick<
  operations,
  'listNodeAuthorities' | 'rotateNodeAuthority' | 'retireNodeAuthority'
>;

/** The CAs behind the identities of hosts. */
export function authorityRoutes({ clock, sealer }: Services): Handlers<AuthorityOperations, Caller> {
  return {
    async listNodeAuthorities({ caller, query, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      const body = await read((tx) => listAuthorities(tx, clock.now(), query));
      return { status: 200, body };
    },
    rotateNodeAuthority({ caller, body, audit, mutate }) {
      audit({ targetType: 'node_authority', targetId: 'new', detail: { reason: body.reason } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.identity', atPlatform);
        const id = await rotateAuthority(tx, sealer);
        audit({ targetType: 'node_authority', targetId: id, detail: { reason: body.reason } });
        return { status: 201, body: await getAuthority(tx, clock.now(), id) };
      });
    },
    retireNodeAuthority({ caller, params, body, audit, mutate }) {
      const { reason, cut_off = false } = body;
      audit({ targetType: 'node_authority', targetId: params.authority_id, detail: { reason, cut_off } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.identity', atPlatform);
        await retireAuthority(tx, clock.now(), params.authority_id, cut_off);
        return { status: 200, body: await getAuthority(tx, clock.now(), params.authority_id) };
      });
    },
  };
}
