import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { AuditTarget, Handlers } from '../../../platform/http/operation.ts';
import type { Services } from '../../../platform/services.ts';
import { findAllocation } from '../find-allocation.ts';
import { attachIngress } from './attach-ingress.ts';
import { describeIngress, type IngressRow } from './describe-ingress.ts';
import { detachIngress } from './detach-ingress.ts';
import { listIngress } from './list-ingress.ts';

type IngressOperations = Pick<operations, 'listIngress' | 'attachIngress' | 'detachIngress'>;

export function ingressRoutes(services: Services): Handlers<IngressOperations, Caller> {
  return {
    listIngress({ caller, params, query, read }) {
      return read(async (tx) => {
        const allocation = await findAllocation(tx, caller, 'allocation.read', params.allocation_id);
        return { status: 200, body: await listIngress(tx, allocation, query) };
      });
    },
    attachIngress({ caller, params, body, audit, mutate }) {
      audit({ targetType: 'allocation', targetId: params.allocation_id, detail: { ...body } });
      return mutate(async (tx) => {
        const { allocation, ingress } = await attachIngress(services, tx, caller, params.allocation_id, body);
        audit(targetOf(ingress));
        return { status: 202, body: describeIngress(ingress, allocation.region) };
      });
    },
    detachIngress({ caller, params, audit, mutate }) {
      audit({ targetType: 'ingress', targetId: params.ingress_id });
      return mutate(async (tx) => {
        const { allocation_id, ingress_id } = params;
        const { allocation, ingress } = await detachIngress(services, tx, caller, allocation_id, ingress_id);
        audit(targetOf(ingress));
        return { status: 202, body: describeIngress(ingress, allocation.region) };
      });
    },
  };
}

function targetOf(row: IngressRow): AuditTarget {
  const { protocol, public_address, public_port, machine_port, allocation_id } = row;
  return {
    targetType: 'ingress',
    targetId: row.id,
    organizationId: row.organization_id,
    detail: { allocation_id, protocol, public_address, public_port, machine_port },
  };
}
