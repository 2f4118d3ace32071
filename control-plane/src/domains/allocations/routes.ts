import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import { authorize, type Caller } from '../../platform/auth/caller.ts';
import type { AuditTarget, Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { createAllocation } from './create-allocation.ts';
import { describeAllocation } from './describe-allocation.ts';
import { describeConnection } from './describe-connection.ts';
import { extendAllocation } from './extend-allocation.ts';
import { explainPlacement } from './explain-placement.ts';
import { findProject } from '../tenancy/projects/find-project.ts';
import { listIdleLeases } from './idle/list-idle-leases.ts';
import { findAllocation } from './find-allocation.ts';
import { listAllocations } from './list-allocations.ts';
import { listTimeline } from './list-timeline.ts';
import { listHostCleanups } from './list-host-cleanups.ts';
import { listWipeCertificates } from './list-wipe-certificates.ts';
import type { AllocationRow } from './move-allocation.ts';
import { requestRelease, retryFailedRelease } from './request-release.ts';
import { salesDesk, sellWithOthers } from './sell-in-groups.ts';
import { setTags } from './set-tags.ts';
import { showForOperators } from './show-for-operators.ts';
import { showProgress } from './show-progress.ts';
import { showAllocation } from './show-allocation.ts';

type AllocationOperations = Pick<
  operations,
  | 'listAllocations'
  | 'createAllocation'
  | 'getAllocation'
  | 'releaseAllocation'
  | 'retryAllocationRelease'
  | 'extendAllocation'
  | 'setAllocationTags'
  | 'listIdleLeases'
  | 'listAllocationTimeline'
  | 'getAllocationConnection'
  | 'getAllocationProgress'
  | 'listAllAllocations'
  | 'getAllocationForOperators'
  | 'listWipeCertificates'
  | 'listHostCleanups'
  | 'explainPlacement'
>;

const platform = { kind: 'platform' } as const;

export function allocationRoutes(services: Services): Handlers<AllocationOperations, Caller> {
  const { clock } = services;
  const desk = salesDesk(services);
  return {
    listAllocations({ caller, query, read }) {
      return read(async (tx) => {
        await findProject(tx, caller, 'allocation.read', query.project_id);
        return { status: 200, body: await listAllocations(tx, clock.now(), { limit: 50, ...query }) };
      });
    },
    createAllocation({ caller, body, correlationId, audit, mutateTogether }) {
      audit({ targetType: 'project', targetId: body.project_id });
      return mutateTogether({
        async join(idempotent, papers) {
          const answer = await sellWithOthers(desk, {
            caller,
            request: body,
            correlationId,
            idempotent,
            papers: (sold) => ({
              audit: papers.audit(launchTarget(sold)),
              answer: papers.answer(accepted(describeAllocation(sold, clock.now()))),
            }),
          });
          return answer && 'sold' in answer
            ? { reply: accepted(describeAllocation(answer.sold, clock.now())) }
            : answer;
        },
        async alone(tx) {
          const row = await createAllocation(services, tx, caller, body, correlationId);
          audit(launchTarget(row));
          return accepted(await showAllocation(tx, row, clock.now()));
        },
      });
    },
    getAllocation({ caller, params, read }) {
      return read(async (tx) => {
        const row = await findAllocation(tx, caller, 'allocation.read', params.allocation_id);
        return { status: 200, body: await showAllocation(tx, row, clock.now()) };
      });
    },
    releaseAllocation({ caller, params, audit, mutate }) {
      audit({ targetType: 'allocation', targetId: params.allocation_id });
      return mutate(async (tx) => {
        const row = await requestRelease(services, tx, caller, params.allocation_id);
        audit({ targetType: 'allocation', targetId: row.id, organizationId: row.organization_id });
        return { status: 202, body: await showAllocation(tx, row, clock.now()) };
      });
    },
    retryAllocationRelease({ caller, params, audit, mutate }) {
      audit({ targetType: 'allocation', targetId: params.allocation_id });
      return mutate(async (tx) => {
        const row = await retryFailedRelease(services, tx, caller, params.allocation_id);
        audit({ targetType: 'allocation', targetId: row.id, organizationId: row.organization_id });
        return { status: 202, body: await showAllocation(tx, row, clock.now()) };
      });
    },
    extendAllocation({ caller, params, body, audit, mutate }) {
      const { allocation_id } = params;
      audit({ targetType: 'allocation', targetId: allocation_id, detail: { ...body } });
      return mutate(async (tx) => {
        const row = await extendAllocation(services, tx, caller, allocation_id, body.additional_seconds);
        audit({
          targetType: 'allocation',
          targetId: row.id,
          organizationId: row.organization_id,
          detail: { ...body, ends_at: row.ends_at },
        });
        return { status: 200, body: await showAllocation(tx, row, clock.now()) };
      });
    },
    setAllocationTags({ caller, params, body, audit, mutate }) {
      const target = { targetType: 'allocation', targetId: params.allocation_id };
      audit(target);
      return mutate(async (tx) => {
        const { before, row } = await setTags(tx, caller, params.allocation_id, body.tags);
        audit({
          ...target,
          organizationId: row.organization_id,
          before: { tags: before },
          after: { tags: row.tags },
        });
        return { status: 200, body: await showAllocation(tx, row, clock.now()) };
      });
    },
    listIdleLeases({ caller, query, read }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: query.organization_id });
      return read(async (tx) => ({
        status: 200,
        body: await listIdleLeases(tx, clock.now(), { limit: 50, ...query }),
      }));
    },
    listAllocationTimeline({ caller, params, query, read }) {
      return read(async (tx) => {
        await findAllocation(tx, caller, 'allocation.read', params.allocation_id);
        return { status: 200, body: await listTimeline(tx, params.allocation_id, { limit: 50, ...query }) };
      });
    },
    getAllocationProgress({ caller, params, read }) {
      return read(async (tx) => {
        const row = await findAllocation(tx, caller, 'allocation.read', params.allocation_id);
        return { status: 200, body: { items: await showProgress(tx, row), next_page: null } };
      });
    },
    async getAllocationConnection({ caller, params, read }) {
      const row = await read((tx) => findAllocation(tx, caller, 'allocation.connect', params.allocation_id));
      return { status: 200, body: describeConnection(row) };
    },
    async listAllAllocations({ caller, query, read }) {
      authorize(caller, 'fleet.read', platform);
      const body = await read((tx) => listAllocations(tx, clock.now(), { limit: 50, ...query }));
      return { status: 200, body };
    },
    async getAllocationForOperators({ caller, params, read }) {
      authorize(caller, 'fleet.read', platform);
      return {
        status: 200,
        body: await read((tx) => showForOperators(tx, clock.now(), params.allocation_id)),
      };
    },
    explainPlacement({ caller, body, read }) {
      return read(async (tx) => ({
        status: 200,
        body: await explainPlacement(services, tx, caller, body),
      }));
    },
    listWipeCertificates({ caller, params, query, read }) {
      return read(async (tx) => {
        await findAllocation(tx, caller, 'allocation.read', params.allocation_id);
        const page = { limit: 50, ...query };
        return { status: 200, body: await listWipeCertificates(tx, params.allocation_id, page) };
      });
    },
    listHostCleanups({ caller, params, query, read }) {
      return read(async (tx) => {
        await findAllocation(tx, caller, 'allocation.read', params.allocation_id);
        const page = { limit: 50, ...query };
        return { status: 200, body: await listHostCleanups(tx, params.allocation_id, page) };
      });
    },
  };
}

function launchTarget(row: AllocationRow): AuditTarget {
  return {
    targetType: 'allocation',
    targetId: row.id,
    organizationId: row.organization_id,
    detail: { sku: row.sku, gpu_count: row.gpu_count, node_id: row.node_id },
  };
}

function accepted(body: components['schemas']['Allocation']) {
  return { status: 202 as const, body, location: `/api/v1/allocations/${body.id}` };
}
