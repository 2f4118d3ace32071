import type { Clock } from '../../../platform/clock.ts';
import { resourceName } from '../../../platform/ids.ts';
import type { ResourceOwner } from '../../tenancy/owned-resources.ts';
import { given } from '../../../platform/db/given.ts';

/** Reservations belong to the project, not to their creator: nothing is handed over when a person leaves. */
export function ownedReservations(clock: Clock): ResourceOwner {
  return {
    async live(tx, { organizationId, projectId, userId }, limit) {
      if (userId !== undefined) return [];
      const rows = await tx
        .selectFrom('capacity_reservations')
        .select(['id', 'organization_id', 'project_id', 'region', 'reason'])
        .where('organization_id', '=', organizationId)
        .where('cancelled_at', 'is', null)
        .where('ends_at', '>', clock.now())
        .$call(given(projectId, (q, id) => q.where('project_id', '=', id)))
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        resource_type: 'reservation',
        resource_id: row.id,
        resource_name: reservationName(row),
        project_id: row.project_id,
        name: row.reason,
      }));
    },
    handOver: async () => [],
  };
}

export function reservationName(row: {
  id: string;
  region: string;
  organization_id: string;
  project_id: string;
}): string {
  return resourceName({
    region: row.region,
    organizationId: row.organization_id,
    projectId: row.project_id,
    resourceType: 'reservation',
    resourceId: row.id,
  });
}
