import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { fromCursor } from '../../platform/db/given.ts';
import type { Notifications } from '../../platform/db/generated/schema.ts';
import { decodePage, toPage } from '../../platform/http/page.ts';

type Notification = components['schemas']['Notification'];

export async function listNotifications(
  tx: Tx,
  userId: string,
  query: { unread?: boolean; limit: number; page?: string },
): Promise<{ items: Notification[]; next_page: string | null; unread_count: number }> {
  const before = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('notifications')
    .selectAll()
    .where('user_id', '=', userId)
    .$if(query.unread === true, (q) => q.where('read_at', 'is', null))
    .$if(query.unread === false, (q) => q.where('read_at', 'is not', null))
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return {
    items: page.rows.map(describeNotification),
    next_page: page.next_page,
    unread_count: await countUnread(tx, userId),
  };
}

export async function countUnread(tx: Tx, userId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('notifications')
    .select((e) => e.fn.countAll<bigint>().as('count'))
    .where('user_id', '=', userId)
    .where('read_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export function describeNotification(row: Selectable<Notifications>): Notification {
  return {
    id: row.id,
    organization_id: row.about_organization_id,
    kind: row.kind,
    severity: row.severity,
    title: row.title,
    body: row.body,
    link: row.link,
    event_type: row.event_type,
    created_at: row.created_at.toISOString(),
    read_at: row.read_at?.toISOString() ?? null,
  };
}
