import type { IncidentType } from '@gpuaas/contracts/generated/incidents.ts';
import type { Tx } from '../../platform/db/database.ts';
import { incidentKey, openIncident, type NewIncident } from './open-incident.ts';

export type IncidentCondition = Omit<NewIncident, 'type'>;

/**
 * Makes the open incidents of a type match the current conditions: opens one for each and closes the rest.
 */
export async function syncIncidents(
  tx: Tx,
  now: Date,
  type: IncidentType,
  conditions: readonly IncidentCondition[],
  resolution: string,
): Promise<void> {
  const open = await tx
    .selectFrom('incidents')
    .select(['id', 'dedupe_key'])
    .where('type', '=', type)
    .where('resolved_at', 'is', null)
    .execute();
  const known = new Set(open.map((incident) => incident.dedupe_key));
  const current = new Set(conditions.map((condition) => incidentKey({ ...condition, type })));
  for (const condition of conditions) {
    if (!known.has(incidentKey({ ...condition, type }))) await openIncident(tx, now, { ...condition, type });
  }
  const gone = open.filter((incident) => !current.has(incident.dedupe_key)).map((incident) => incident.id);
  if (gone.length === 0) return;
  await tx
    .updateTable('incidents')
    .set({ resolved_at: now, resolution })
    .where('id', 'in', gone)
    .where('resolved_at', 'is', null)
    .execute();
}
