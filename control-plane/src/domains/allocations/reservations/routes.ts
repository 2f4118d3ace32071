import type { components, operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import type { WithFleetIndex } from '../../fleet/index/fleet-index.ts';
import { findProject } from '../../tenancy/projects/find-project.ts';
import { cancelReservation, findReservation } from './cancel-reservation.ts';
import { createReservation } from './create-reservation.ts';
import { listReservations } from './list-reservations.ts';
import { first } from '../../../platform/present.ts';

type ReservationOperations = Pick<
  operations,
  | 'listReservations'
  | 'createReservation'
  | 'cancelReservation'
  | 'listAllReservations'
  | 'createReservationFor'
  | 'cancelReservationOf'
>;

/** Reserved capacity: tenants reserve within their limit, operators for any tenant. */
export function reservationRoutes(
  services: Services & WithFleetIndex,
): Handlers<ReservationOperations, Caller> {
  const show = async (tx: Tx, id: string, sees: 'counts' | 'nodes') =>
    first((await listReservations(services, tx, { id, limit: 1 }, sees)).items, 'item of the answer');
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
          body: await listReservations(services, tx, query, 'counts'),
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
        const id = await createReservation(services, tx, body, {
          organizationId,
          createdBy: caller.id,
          byOperator: false,
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
        await cancelReservation(services, tx, row.id, 'tenant');
        audit(named(row.id, row.organization_id));
        return { status: 200, body: await show(tx, row.id, 'counts') };
      });
    },
    async listAllReservations({ caller, query, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      const body = await read((tx) => listReservations(services, tx, query, 'nodes'));
      return { status: 200, body };
    },
    createReservationFor({ caller, body, audit, mutate }) {
      audit({ targetType: 'project', targetId: body.project_id });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.operate', atPlatform);
        const project = await tx
          .selectFrom('projects')
          .select('organization_id')
          .where('id', '=', body.project_id)
          .where('deleted_at', 'is', null)
          .executeTakeFirst();
        if (!project) throw notFound();
        const organizationId = project.organization_id;
        const reserver = { organizationId, createdBy: caller.id, byOperator: true };
        const id = await createReservation(services, tx, body, reserver);
        audit(named(id, organizationId, body));
        return { status: 201, body: await show(tx, id, 'nodes'), location: '/api/v1/admin/reservations' };
      });
    },
    cancelReservationOf({ caller, params, audit, mutate }) {
      audit({ targetType: 'reservation', targetId: params.reservation_id });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.operate', atPlatform);
        const row = await findReservation(tx, params.reservation_id);
        await cancelReservation(services, tx, row.id, 'operator');
        audit(named(row.id, row.organization_id));
        return { status: 200, body: await show(tx, row.id, 'nodes') };
      });
    },
  };
}
