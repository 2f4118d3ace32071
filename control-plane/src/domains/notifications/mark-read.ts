import { sql } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import { given } from '../../platform/db/given.ts';
import { notFound } from '../../platform/http/problem.ts';
import { countUnread, describeNotification } from './list-notifications.ts';

/** The first reading counts. */
export async function markRead(
  tx: Tx,
  now: Date,
  userId: string,
  notificationId: string,
): Promise<components['schemas']['Notification']> {
  const row = await tx
    .updateTable('notifications')
    .set({ read_at: sql`coalesce(read_at, ${now})` })
    .where('id', '=', notificationId)
    .where('user_id', '=', userId)
    .returningAll()
    .executeTakeFirst();
  if (!row) throw notFound();
  return describeNotification(row);
}

/** Ids are in order of time, so notifications after the last one seen stay unread. */
export async function markAllRead(
  tx: Tx,
  now: Date,
  userId: string,
  upTo: string | undefined,
): Promise<{ marked: number; unread_count: number }> {
  const { numUpdatedRows } = await tx
    .updateTable('notifications')
    .set({ read_at: now })
    .where('user_id', '=', userId)
    .where('read_at', 'is', null)
    .$call(given(upTo, (q, value) => q.where('id', '<=', value)))
    .executeTakeFirstOrThrow();
  return { marked: Number(numUpdatedRows), unread_count: await countUnread(tx, userId) };
}
