import type { Updateable } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Incidents } from '../../platform/db/generated/schema.ts';
import { notFound } from '../../platform/http/problem.ts';
import { describeIncident, type Incident, type IncidentRow } from './describe-incident.ts';

/** The first acknowledgement counts. */
export async function acknowledgeIncident(
  tx: Tx,
  now: Date,
  incidentId: string,
  userId: string,
): Promise<Incident> {
  const row = await lockIncident(tx, incidentId);
  if (row.acknowledged_at || row.resolved_at) return describeIncident(row);
  return await change(tx, incidentId, { acknowledged_at: now, acknowledged_by: userId });
}

/** The first resolution counts. */
export async function closeIncident(
  tx: Tx,
  now: Date,
  incidentId: string,
  userId: string,
  resolution: string,
): Promise<Incident> {
  const row = await lockIncident(tx, incidentId);
  if (row.resolved_at) return describeIncident(row);
  return await change(tx, incidentId, { resolved_at: now, resolved_by: userId, resolution });
}

async function lockIncident(tx: Tx, incidentId: string): Promise<IncidentRow> {
  const row = await tx
    .selectFrom('incidents')
    .selectAll()
    .where('id', '=', incidentId)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

async function change(tx: Tx, incidentId: string, values: Updateable<Incidents>): Promise<Incident> {
  const row = await tx
    .updateTable('incidents')
    .set(values)
    .where('id', '=', incidentId)
    .returningAll()
    .executeTakeFirstOrThrow();
  return describeIncident(row);
}
