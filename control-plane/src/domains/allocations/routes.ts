import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../platform/auth/caller.ts';
import type { AuditTarget, Handlers } from '../../platform/http/operation.ts';
import type { ReleaseServices } from './release/release-hooks.ts';
import { createAllocation } from './launch/create-allocation.ts';
import { describeAllocation } from './describe-allocation.ts';
import { describeConnection } from './connection/describe-connection.ts';
import { extendAllocation } from './leases/extend-allocation.ts';
import { explainPlacement } from './launch/explain-placement.ts';
import type { WithFleetIndex } from '../fleet/index/fleet-index.ts';
import { findProject } from '../tenancy/projects/find-project.ts';
import { listIdleLeases } from './idle/list-idle-leases.ts';
import { findAllocation } from './find-allocation.ts';
import { listAllocations } from './list-allocations.ts';
import { listHostCleanups } from './cleanup/list-host-cleanups.ts';
import { listWipeCertificates } from './certificates/list-wipe-certificates.ts';
import type { AllocationRow } from './transition-allocation.ts';
import { requestRelease, retryFailedRelease } from './release/request-release.ts';
import { LaunchBatcher } from './launch/launch-batcher.ts';
import { setTags } from './set-tags.ts';
import { showAllocationForOperator } from './show-for-operators.ts';
import { showProgress, showTimeline } from './show-timeline.ts';
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

export function allocationRoutes(
  services: ReleaseServices & WithFleetIndex,
): Handlers<AllocationOperations, Caller> {
  const { clock } = services;
  const launches = new LaunchBatcher(services);
  return {
    listAllocations({ caller, query, read }) {
      return read(async (tx) => {
        await findProject(tx, caller, 'allocation.read', query.project_id);
        return { status: 200, body: await listAllocations(services, tx, query) };
      });
    },
    createAllocation({ caller, body, correlationId, audit, mutateInBatch }) {
      audit({ targetType: 'project', targetId: body.project_id });
      const launch = { caller, request: body, correlationId };
      return mutateInBatch({
        async inBatch(idempotent, commitExtras) {
          const result = await launches.reserve({
            ...launch,
            idempotent,
            commitExtras: (reserved) => ({
              audit: commitExtras.audit(launchTarget(reserved)),
              answer: commitExtras.answer(accepted(describeAllocation(reserved))),
            }),
          });
          if (result?.kind !== 'reserved') return result;
          return { kind: 'decided', reply: accepted(describeAllocation(result.allocation)) };
        },
        async individually(tx) {
          const row = await createAllocation(services, tx, launch);
          audit(launchTarget(row));
          return accepted(await showAllocation(services, tx, row));
        },
      });
    },
    getAllocation({ caller, params, read }) {
      return read(async (tx) => {
        const row = await findAllocation(tx, caller, 'allocation.read', params.allocation_id);
        return { status: 200, body: await showAllocation(services, tx, row) };
      });
    },
    releaseAllocation({ caller, params, audit, mutate }) {
      audit({ targetType: 'allocation', targetId: params.allocation_id });
      return mutate(async (tx) => {
        const row = await requestRelease(services, tx, caller, params.allocation_id);
        audit({ targetType: 'allocation', targetId: row.id, organizationId: row.organization_id });
        return { status: 202, body: await showAllocation(services, tx, row) };
      });
    },
    retryAllocationRelease({ caller, params, audit, mutate }) {
      audit({ targetType: 'allocation', targetId: params.allocation_id });
      return mutate(async (tx) => {
        const row = await retryFailedRelease(services, tx, caller, params.allocation_id);
        audit({ targetType: 'allocation', targetId: row.id, organizationId: row.organization_id });
        return { status: 202, body: await showAllocation(services, tx, row) };
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
        return { status: 200, body: await showAllocation(services, tx, row) };
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
        return { status: 200, body: await showAllocation(services, tx, row) };
      });
    },
    listIdleLeases({ caller, query, read }) {
      authorize(caller, 'billing.read', { kind: 'tenant', organizationId: query.organization_id });
      return read(async (tx) => ({
        status: 200,
        body: await listIdleLeases(tx, clock.now(), query),
      }));
    },
    listAllocationTimeline({ caller, params, query, read }) {
      return read(async (tx) => {
        const row = await findAllocation(tx, caller, 'allocation.read', params.allocation_id);
        return { status: 200, body: await showTimeline(tx, row, query) };
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
      authorize(caller, 'fleet.read', atPlatform);
      const body = await read((tx) => listAllocations(services, tx, query));
      return { status: 200, body };
    },
    async getAllocationForOperators({ caller, params, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      return {
        status: 200,
        body: await read((tx) => showAllocationForOperator(services, tx, params.allocation_id)),
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
        const page = query;
        return { status: 200, body: await listWipeCertificates(tx, params.allocation_id, page) };
      });
    },
    listHostCleanups({ caller, params, query, read }) {
      return read(async (tx) => {
        await findAllocation(tx, caller, 'allocation.read', params.allocation_id);
        const page = query;
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
