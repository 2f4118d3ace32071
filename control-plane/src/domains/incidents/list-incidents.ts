import type { IncidentType } from '@gpuaas/contracts/generated/incidents.ts';
import type { Db } from '../../platform/db/database.ts';
import { fromCursor, given } from '../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import { notFound } from '../../platform/http/problem.ts';
import { describeIncident, type Incident } from './describe-incident.ts';

export async function listIncidents(
  db: Db,
  query: { state?: 'open' | 'resolved'; type?: IncidentType; limit: number; page?: string },
): Promise<Page<Incident>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('incidents')
    .selectAll()
    .$if(query.state === 'open', (q) => q.where('resolved_at', 'is', null))
    .$if(query.state === 'resolved', (q) => q.where('resolved_at', 'is not', null))
    .$call(given(query.type, (q, type) => q.where('type', '=', type)))
    .$call(fromCursor(after, (q, [id]) => q.where('id', '<', id)))
    // Ids are time-ordered.
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeIncident), next_page: page.next_page };
}

export async function getIncident(db: Db, incidentId: string): Promise<Incident> {
  const row = await db.selectFrom('incidents').selectAll().where('id', '=', incidentId).executeTakeFirst();
  if (!row) throw notFound();
  return describeIncident(row);
}
