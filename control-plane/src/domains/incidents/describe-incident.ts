import type { Selectable } from 'kysely';
import { incidentTypes } from '@gpuaas/contracts/generated/incidents.ts';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Incidents } from '../../platform/db/generated/schema.ts';

export type Incident = components['schemas']['Incident'];
export type IncidentRow = Selectable<Incidents>;

export function describeIncident(row: IncidentRow): Incident {
  const type = row.type;
  return {
    id: row.id,
    type,
    title: incidentTypes[type].title,
    severity: row.severity,
    state: row.resolved_at ? 'resolved' : row.acknowledged_at ? 'acknowledged' : 'open',
    target_type: row.target_type,
    target_id: row.target_id,
    summary: row.summary,
    detail: row.detail,
    runbook: row.runbook,
    occurrences: row.occurrences,
    opened_at: row.opened_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    deadline: row.deadline.toISOString(),
    acknowledged_at: row.acknowledged_at?.toISOString() ?? null,
    acknowledged_by: row.acknowledged_by,
    resolved_at: row.resolved_at?.toISOString() ?? null,
    resolved_by: row.resolved_by,
    resolution: row.resolution,
  };
}
