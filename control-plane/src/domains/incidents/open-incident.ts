import { sql } from 'kysely';
import { incidentTypes, type IncidentType } from '@gpuaas/contracts/generated/incidents.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import { emit } from '../../platform/events/emit.ts';
import { newId } from '../../platform/ids.ts';

export interface NewIncident {
  type: IncidentType;
  targetType: string;
  targetId: string;
  /** One sentence a person can act on. */
  summary: string;
  detail?: Record<string, unknown>;
  /** Identifies the incident for deduplication; defaults to the target. */
  dedupeBy?: string;
}

/**
 * Opens an incident in the caller's transaction; while one is open for the same cause, increments its count.
 */
export async function openIncident(tx: Tx, now: Date, incident: NewIncident): Promise<string> {
  const { severity, runbook, deadline_seconds } = incidentTypes[incident.type];
  const row = await tx
    .insertInto('incidents')
    .values({
      id: newId(),
      type: incident.type,
      severity,
      dedupe_key: incidentKey(incident),
      target_type: incident.targetType,
      target_id: incident.targetId,
      summary: incident.summary.slice(0, 500),
      detail: JSON.stringify(incident.detail ?? {}),
      runbook,
      opened_at: now,
      last_seen_at: now,
      deadline: new Date(now.getTime() + deadline_seconds * 1000),
    })
    .onConflict((c) =>
      c
        .column('dedupe_key')
        .where('resolved_at', 'is', null)
        .doUpdateSet({ last_seen_at: now, occurrences: sql`incidents.occurrences + 1` }),
    )
    .returning(['id', 'deadline', sql<boolean>`xmax = 0`.as('fresh')])
    .executeTakeFirstOrThrow();
  if (row.fresh) await emitOpened(tx, row.id, row.deadline, incident);
  return row.id;
}

async function emitOpened(tx: Tx, id: string, deadline: Date, incident: NewIncident): Promise<void> {
  const { title, severity, runbook } = incidentTypes[incident.type];
  await emit(tx, {
    type: 'incident.opened',
    subjectId: id,
    organizationId: null,
    correlationId: newId(),
    payload: {
      incident_id: id,
      type: incident.type,
      title,
      severity,
      target_type: incident.targetType,
      target_id: incident.targetId,
      summary: incident.summary.slice(0, 500),
      runbook,
      deadline: deadline.toISOString(),
    },
  });
}

type Cause = Pick<NewIncident, 'type' | 'targetId' | 'dedupeBy'>;

/** Closes the open incident of a cause that is gone. No person is recorded: the platform saw it. */
export async function resolveIncident(
  db: Db | Tx,
  now: Date,
  incident: Cause,
  resolution: string,
): Promise<void> {
  await resolveIncidents(db, now, [{ incident, resolution }]);
}

/** Closes the open incidents of many causes. */
export async function resolveIncidents(
  db: Db | Tx,
  now: Date,
  gone: readonly { incident: Cause; resolution: string }[],
): Promise<void> {
  if (gone.length === 0) return;
  await sql`
    update incidents i set resolved_at = ${now}, resolution = g.resolution
    from unnest(${gone.map(({ incident }) => incidentKey(incident))}::text[],
      ${gone.map(({ resolution }) => resolution.slice(0, 1000))}::text[]) as g (dedupe_key, resolution)
    where i.dedupe_key = g.dedupe_key and i.resolved_at is null`.execute(db);
}

export function incidentKey(incident: Cause): string {
  return `${incident.type}:${incident.dedupeBy ?? incident.targetId}`.slice(0, 300);
}
