import type { IncidentType } from '@gpuaas/contracts/generated/incidents.ts';
import type { Db } from '../../platform/db/database.ts';
import { decodePage, pageOf } from '../../platform/http/pagination.ts';
import { notFound } from '../../platform/http/problem.ts';
import { describeIncident, type Incident } from './describe-incident.ts';

export async function listIncidents(
  db: Db,
  query: { state?: 'open' | 'resolved'; type?: IncidentType; limit: number; page?: string },
): Promise<{ items: Incident[]; next_page: string | null }> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('incidents')
    .selectAll()
    .$if(query.state === 'open', (q) => q.where('resolved_at', 'is', null))
    .$if(query.state === 'resolved', (q) => q.where('resolved_at', 'is not', null))
    .$if(query.type !== undefined, (q) => q.where('type', '=', query.type!))
    .$if(after !== null, (q) => q.where('id', '<', after![0]!))
    // Ids are time-ordered.
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = pageOf(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeIncident), next_page: page.next_page };
}

export async function getIncident(db: Db, incidentId: string): Promise<Incident> {
  const row = await db.selectFrom('incidents').selectAll().where('id', '=', incidentId).executeTakeFirst();
  if (!row) throw notFound();
  return describeIncident(row);
}
