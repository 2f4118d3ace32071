import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { findProject } from '../tenancy/projects/find-project.ts';
import { getIncident, listIncidents } from './list-incidents.ts';
import { listProjectIncidents } from './list-project-incidents.ts';
import { acknowledgeIncident, closeIncident } from './manage-incident.ts';
import { listParkedEvents, retryParkedEvent, skipEvent } from './parked-events.ts';

type IncidentOperations = Pick<
  operations,
  | 'listProjectIncidents'
  | 'listIncidents'
  | 'getIncident'
  | 'acknowledgeIncident'
  | 'resolveIncident'
  | 'listParkedEvents'
  | 'retryParkedEvent'
  | 'skipParkedEvent'
>;

export function incidentRoutes({ clock }: Services): Handlers<IncidentOperations, Caller> {
  return {
    listProjectIncidents({ caller, query, read }) {
      return read(async (tx) => {
        await findProject(tx, caller, 'allocation.read', query.project_id);
        return { status: 200, body: await listProjectIncidents(tx, query) };
      });
    },
    async listIncidents({ caller, query, read }) {
      authorize(caller, 'incident.read', atPlatform);
      return { status: 200, body: await read((tx) => listIncidents(tx, query)) };
    },
    async getIncident({ caller, params, read }) {
      authorize(caller, 'incident.read', atPlatform);
      return { status: 200, body: await read((tx) => getIncident(tx, params.incident_id)) };
    },
    acknowledgeIncident({ caller, params, audit, mutate }) {
      audit({ targetType: 'incident', targetId: params.incident_id });
      return mutate(async (tx) => {
        authorize(caller, 'incident.manage', atPlatform);
        const body = await acknowledgeIncident(tx, clock.now(), params.incident_id, caller.id);
        return { status: 200, body };
      });
    },
    resolveIncident({ caller, params, body, audit, mutate }) {
      const { resolution } = body;
      audit({ targetType: 'incident', targetId: params.incident_id, detail: { resolution } });
      return mutate(async (tx) => {
        authorize(caller, 'incident.manage', atPlatform);
        const closed = await closeIncident(tx, clock.now(), params.incident_id, caller.id, resolution);
        return { status: 200, body: closed };
      });
    },
    async listParkedEvents({ caller, query, read }) {
      authorize(caller, 'incident.read', atPlatform);
      return { status: 200, body: await read((tx) => listParkedEvents(tx, query)) };
    },
    retryParkedEvent({ caller, params, audit, mutate }) {
      audit({ targetType: 'parked_event', targetId: params.parked_event_id });
      return mutate(async (tx) => {
        authorize(caller, 'incident.manage', atPlatform);
        return { status: 202, body: await retryParkedEvent(tx, params.parked_event_id) };
      });
    },
    skipParkedEvent({ caller, params, body, audit, mutate }) {
      const { reason } = body;
      audit({ targetType: 'parked_event', targetId: params.parked_event_id, detail: { reason } });
      return mutate(async (tx) => {
        authorize(caller, 'incident.manage', atPlatform);
        const skipped = await skipEvent(tx, params.parked_event_id, {
          now: clock.now(),
          by: caller.id,
          reason,
        });
        return { status: 200, body: skipped };
      });
    },
  };
}
