import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import { withRole } from '../../../platform/db/scope.ts';
import type { AuditTarget, Handlers } from '../../../platform/http/operation.ts';
import { first } from '../../../platform/present.ts';
import type { Services } from '../../../platform/services.ts';
import { findProject } from '../../tenancy/projects/find-project.ts';
import { describeCost } from '../cost/describe-cost.ts';
import { listTargets } from '../compatibility/list-targets.ts';
import { lookSoon } from '../logs/look-soon.ts';
import { findLogPart, followLog, readLogPart } from '../logs/read-log.ts';
import { createInstance } from './create-instance.ts';
import { describeInstances } from './describe-instance.ts';
import { findInstance } from './find-instance.ts';
import { listEvents, listInstances, listMembers } from './list-instances.ts';
import type { InstanceRow } from './record-event.ts';
import { requestStop } from './request-stop.ts';

type InstanceOperations = Pick<
  operations,
  | 'checkAppCompatibility'
  | 'listAppInstances'
  | 'createAppInstance'
  | 'getAppInstance'
  | 'getAppInstanceCost'
  | 'stopAppInstance'
  | 'listAppInstanceMembers'
  | 'listAppInstanceEvents'
  | 'readAppInstanceLog'
>;

const STOPPED_BY_PERSON = 'Stopped on request';

export function appInstanceRoutes(services: Services): Handlers<InstanceOperations, Caller> {
  return {
    checkAppCompatibility({ caller, params, query, read }) {
      return read(async (tx) => {
        const project = await findProject(tx, caller, 'app_instance.read', query.project_id);
        const body = await listTargets(services, tx, caller, project, { ...query, ...params });
        return { status: 200, body };
      });
    },
    listAppInstances({ caller, query, read }) {
      return read(async (tx) => {
        await findProject(tx, caller, 'app_instance.read', query.project_id);
        return { status: 200, body: await listInstances(tx, query) };
      });
    },
    createAppInstance({ caller, body, audit, mutate, correlationId }) {
      audit({ targetType: 'project', targetId: body.project_id });
      return mutate(async (tx) => {
        const instance = await createInstance(services, tx, caller, body, correlationId);
        audit(targetOf(instance));
        return {
          status: 202,
          body: first(await describeInstances(tx, [instance]), 'instance'),
          location: `/api/v1/app-instances/${instance.id}`,
        };
      });
    },
    getAppInstance({ caller, params, read }) {
      return read(async (tx) => {
        const instance = await findInstance(tx, caller, 'app_instance.read', params.app_instance_id);
        return { status: 200, body: first(await describeInstances(tx, [instance]), 'instance') };
      });
    },
    getAppInstanceCost({ caller, params, read }) {
      return read(async (tx) => {
        const instance = await findInstance(tx, caller, 'app_instance.read', params.app_instance_id);
        return { status: 200, body: await describeCost(services, tx, instance) };
      });
    },
    stopAppInstance({ caller, params, audit, mutate }) {
      audit({ targetType: 'app_instance', targetId: params.app_instance_id });
      return mutate(async (tx) => {
        const before = await findInstance(tx, caller, 'app_instance.stop', params.app_instance_id);
        audit(targetOf(before));
        const instance = await withRole(tx, 'gpuaas_worker', () =>
          requestStop(services, tx, before.id, { reason: 'cancelled', message: STOPPED_BY_PERSON }),
        );
        return { status: 202, body: first(await describeInstances(tx, [instance]), 'instance') };
      });
    },
    listAppInstanceMembers({ caller, params, query, read }) {
      return read(async (tx) => {
        const { id } = await findInstance(tx, caller, 'app_instance.read', params.app_instance_id);
        return { status: 200, body: await listMembers(tx, id, query) };
      });
    },
    listAppInstanceEvents({ caller, params, query, read }) {
      return read(async (tx) => {
        const { id } = await findInstance(tx, caller, 'app_instance.read', params.app_instance_id);
        return { status: 200, body: await listEvents(tx, id, query) };
      });
    },
    async readAppInstanceLog({ caller, params, query, read, stopping }) {
      const { member_id: memberId, offset = 0, wait_seconds: wait = 0 } = query;
      const body = await followLog(
        async () => {
          const part = await read(async (tx) => {
            const { id } = await findInstance(tx, caller, 'app_instance.read', params.app_instance_id);
            return await findLogPart(tx, id, { memberId, offset });
          });
          return await readLogPart(services, part);
        },
        { waitMs: wait * 1000, ask: (id) => lookSoon(services, id), stopping },
      );
      return { status: 200, body };
    },
  };
}

function targetOf({ id, organization_id: organizationId, app_slug: app, name }: InstanceRow): AuditTarget {
  return { targetType: 'app_instance', targetId: id, organizationId, detail: { app, name } };
}
