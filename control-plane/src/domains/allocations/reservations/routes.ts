import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import { authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { findProject } from '../../tenancy/projects/find-project.ts';
import { cancelReservation, findReservation } from './cancel-reservation.ts';
import { createReservation } from './create-reservation.ts';
import { listReservations } from './list-reservations.ts';

type ReservationOperations = Pick<
  operations,
  | 'listReservations'
  | 'createReservation'
  | 'cancelReservation'
  | 'listAllReservations'
  | 'createReservationFor'
  | 'cancelReservationOf'
>;

const platform = { kind: 'platform' } as const;

/** Capacity kept for projects: by tenants within their limit, by operators for anybody. */
export function reservationRoutes(services: Services): Handlers<ReservationOperations, Caller> {
  const { clock, policies } = services;
  const show = async (tx: Tx, id: string, sees: 'counts' | 'nodes') =>
    (await listReservations(tx, clock.now(), { id, limit: 1 }, sees)).items[0]!;
  const named = (id: string, organizationId: string, body?: components['schemas']['CreateReservation']) => ({
    targetType: 'reservation',
    targetId: id,
    organizationId,
    ...(body ? { detail: { ...body } } : {}),
  });
  return {
    listReservations({ caller, query, read }) {
      return read(async (tx) => {
        await findProject(tx, caller, 'reservation.read', query.project_id);
        return {
          status: 200,
          body: await listReservations(tx, clock.now(), { limit: 50, ...query }, 'counts'),
        };
      });
    },
    createReservation({ caller, body, audit, mutate }) {
      audit({ targetType: 'project', targetId: body.project_id });
      return mutate(async (tx) => {
        const project = await findProject(tx, caller, 'reservation.manage', body.project_id, {
          staysOpen: true,
        });
        const organizationId = project.organization_id;
        const scope = { organizationId, projectId: project.id };
        const maxNodes = policies.get('reservations.max_nodes_per_project', scope);
        const id = await createReservation(services, tx, body, {
          organizationId,
          createdBy: caller.id,
          maxNodes,
        });
        audit(named(id, organizationId, body));
        return {
          status: 201,
          body: await show(tx, id, 'counts'),
          location: `/api/v1/reservations?project_id=${project.id}`,
        };
      });
    },
    cancelReservation({ caller, params, audit, mutate }) {
      audit({ targetType: 'reservation', targetId: params.reservation_id });
      return mutate(async (tx) => {
        const row = await findReservation(tx, params.reservation_id);
        authorize(caller, 'reservation.manage', {
          kind: 'project',
          organizationId: row.organization_id,
          projectId: row.project_id,
        });
        await cancelReservation(tx, clock.now(), row.id);
        audit(named(row.id, row.organization_id));
        return { status: 200, body: await show(tx, row.id, 'counts') };
      });
    },
    async listAllReservations({ caller, query, read }) {
      authorize(caller, 'fleet.read', platform);
      const body = await read((tx) => listReservations(tx, clock.now(), { limit: 50, ...query }, 'nodes'));
      return { status: 200, body };
    },
    createReservationFor({ caller, body, audit, mutate }) {
      audit({ targetType: 'project', targetId: body.project_id });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.operate', platform);
        const project = await tx
          .selectFrom('projects')
          .select('organization_id')
          .where('id', '=', body.project_id)
          .where('deleted_at', 'is', null)
          .executeTakeFirst();
        if (!project) throw notFound();
        const organizationId = project.organization_id;
        const reserver = { organizationId, createdBy: caller.id, maxNodes: null };
        const id = await createReservation(services, tx, body, reserver);
        audit(named(id, organizationId, body));
        return { status: 201, body: await show(tx, id, 'nodes'), location: '/api/v1/admin/reservations' };
      });
    },
    cancelReservationOf({ caller, params, audit, mutate }) {
      audit({ targetType: 'reservation', targetId: params.reservation_id });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.operate', platform);
        const row = await findReservation(tx, params.reservation_id);
        await cancelReservation(tx, clock.now(), row.id);
        audit(named(row.id, row.organization_id));
        return { status: 200, body: await show(tx, row.id, 'nodes') };
      });
    },
  };
}
