import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import type { Services } from '../../../platform/services.ts';
import { listEnrolments } from './list-enrolments.ts';
import { revokeEnrolment } from './revoke-enrolment.ts';
import { identityOf, revokeIdentity } from './revoke-identity.ts';

type IdentityOperations = Pick<
  operations,
  'listNodeEnrolments' | 'revokeNodeEnrolment' | 'getNodeIdentity' | 'revokeNodeIdentity'
>;

/** Who may speak for a host. */
export function identityRoutes({ clock }: Services): Handlers<IdentityOperations, Caller> {
  return {
    async listNodeEnrolments({ caller, query, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      const body = await read((tx) => listEnrolments(tx, clock.now(), query));
      return { status: 200, body };
    },
    revokeNodeEnrolment({ caller, params, audit, mutate }) {
      audit({ targetType: 'node_enrolment', targetId: params.enrolment_id });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.enrol', atPlatform);
        return { status: 200, body: await revokeEnrolment(tx, clock.now(), params.enrolment_id) };
      });
    },
    async getNodeIdentity({ caller, params, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      return { status: 200, body: await read((tx) => identityOf(tx, clock.now(), params.node_id)) };
    },
    revokeNodeIdentity({ caller, params, body, audit, mutate }) {
      audit({ targetType: 'node', targetId: params.node_id, detail: { reason: body.reason } });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.identity', atPlatform);
        await revokeIdentity(tx, params.node_id, clock.now());
        return { status: 200, body: await identityOf(tx, clock.now(), params.node_id) };
      });
    },
  };
}
