import { sql } from 'kysely';
import { incidentTypes } from '@gpuaas/contracts/generated/incidents.ts';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import { get } from '../../platform/present.ts';

type ProjectIncident = components['schemas']['ProjectIncident'];

/** Texts for tenants, by incident type. */
const WORDS = new Map(
  Object.entries(incidentTypes).flatMap(([name, type]) =>
    'for_tenants' in type ? [[name, type.for_tenants]] : [],
  ),
);

/** The most allocations that are named with one incident. */
const NAMED = 100;

export async function listProjectIncidents(
  tx: Tx,
  query: { project_id: string; limit: number; page?: string },
): Promise<Page<ProjectIncident>> {
  const after = decodePage(query.page, ['uuid']);
  const { rows } = await sql<{
    id: string;
    type: string;
    severity: ProjectIncident['severity'];
    opened_at: Date;
    acknowledged_at: Date | null;
    allocation_ids: string[];
  }>`
    select i.id, i.type, i.severity, i.opened_at, i.acknowledged_at, touched.ids as allocation_ids
    from incidents i cross join lateral (
      select (array_agg(a.id order by a.id))[1:${sql.lit(NAMED)}] as ids from allocations a
      where a.project_id = ${query.project_id}
        and (a.id = case i.target_type when 'allocation' then i.target_id::uuid end
          or a.state = 'active' and a.node_id = case i.target_type when 'node' then i.target_id::uuid end)
    ) touched
    where i.resolved_at is null and i.type = any(${[...WORDS.keys()]}) and touched.ids is not null
      and (${after?.[0] ?? null}::uuid is null or i.id < ${after?.[0] ?? null}::uuid)
    order by i.id desc limit ${query.limit + 1}`.execute(tx);
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return {
    items: page.rows.map((row) => ({
      id: row.id,
      title: get(WORDS, row.type, 'words for incident type'),
      severity: row.severity,
      state: row.acknowledged_at ? 'acknowledged' : 'open',
      allocation_ids: row.allocation_ids,
      opened_at: row.opened_at.toISOString(),
      acknowledged_at: row.acknowledged_at?.toISOString() ?? null,
    })),
    next_page: page.next_page,
  };
}
