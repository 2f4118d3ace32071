import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor, given } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { describeEvent, describeInstances, describeMember } from './describe-instance.ts';

type Schemas = components['schemas'];

interface PageQuery {
  limit: number;
  page?: string;
}

interface InstanceFilter {
  project_id: string;
  allocation_id?: string;
  app_slug?: string;
  live?: boolean;
  status?: Schemas['AppStatus'];
  attempts_of?: string;
}

export async function listInstances(
  tx: Tx,
  query: PageQuery & InstanceFilter,
): Promise<Page<Schemas['AppInstance']>> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('app_instances')
    .selectAll()
    .where('project_id', '=', query.project_id)
    .$call(given(query.allocation_id, (q, id) => q.where('allocation_id', '=', id)))
    .$call(given(query.app_slug, (q, slug) => q.where('app_slug', '=', slug)))
    .$call(given(query.live, (q, live) => q.where('ended_at', live ? 'is' : 'is not', null)))
    .$call(given(query.status, (q, status) => q.where('status', '=', status)))
    .$call(given(query.attempts_of, (q, id) => q.where('id', 'in', attemptsOf(tx, id))))
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: await describeInstances(tx, page.rows), next_page: page.next_page };
}

/** Ids of an instance, of those it is a retry of, and of every retry of one of them. */
function attemptsOf(tx: Tx, instanceId: string) {
  return tx
    .withRecursive('earlier', (q) =>
      q
        .selectFrom('app_instances')
        .select(['id', 'retry_of'])
        .where('id', '=', instanceId)
        .union((e) =>
          e
            .selectFrom('app_instances as i')
            .innerJoin('earlier', 'earlier.retry_of', 'i.id')
            .select(['i.id', 'i.retry_of']),
        ),
    )
    .withRecursive('attempts', (q) =>
      q
        .selectFrom('earlier')
        .select('id')
        .union((e) =>
          e
            .selectFrom('app_instances as i')
            .innerJoin('attempts', 'attempts.id', 'i.retry_of')
            .select('i.id'),
        ),
    )
    .selectFrom('attempts')
    .select('id');
}

export async function listMembers(
  tx: Tx,
  instanceId: string,
  query: PageQuery,
): Promise<Page<Schemas['AppInstanceMember']>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('app_instance_members')
    .selectAll()
    .where('instance_id', '=', instanceId)
    .$call(fromCursor(after, (q, [id]) => q.where('id', '>', id)))
    .orderBy('id')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describeMember), next_page: page.next_page };
}

export async function listEvents(
  tx: Tx,
  instanceId: string,
  query: PageQuery,
): Promise<Page<Schemas['AppInstanceEvent']>> {
  const after = decodePage(query.page, ['integer']);
  const rows = await tx
    .selectFrom('app_instance_events')
    .selectAll()
    .where('instance_id', '=', instanceId)
    .$call(fromCursor(after, (q, [position]) => q.where('position', '>', BigInt(position))))
    .orderBy('position')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [String(row.position)]);
  return { items: page.rows.map(describeEvent), next_page: page.next_page };
}
