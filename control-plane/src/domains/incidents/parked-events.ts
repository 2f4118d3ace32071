import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Selectable } from 'kysely';
import type { Db, Tx } from '../../platform/db/database.ts';
import { fromCursor } from '../../platform/db/given.ts';
import type { ParkedEvents } from '../../platform/db/generated/schema.ts';
import { lockParkedEvent, requestRetry, skipParkedEvent } from '../../platform/events/parked-events.ts';
import { decodePage, toPage, type Page } from '../../platform/http/page.ts';
import { notFound, Problem } from '../../platform/http/problem.ts';

export type ParkedEvent = components['schemas']['ParkedEvent'];

export async function listParkedEvents(
  db: Db | Tx,
  query: { state?: 'open' | 'settled'; limit: number; page?: string },
): Promise<Page<ParkedEvent>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await db
    .selectFrom('parked_events')
    .selectAll()
    .$if(query.state === 'open', (q) => q.where('settled_at', 'is', null))
    .$if(query.state === 'settled', (q) => q.where('settled_at', 'is not', null))
    .$call(fromCursor(after, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: page.rows.map(describe), next_page: page.next_page };
}

/** Another request while it is being retried changes nothing. */
export async function retryParkedEvent(tx: Tx, id: string): Promise<ParkedEvent> {
  await requireOpen(tx, id);
  await requestRetry(tx, id);
  return await getParkedEvent(tx, id);
}

export async function skipEvent(
  tx: Tx,
  id: string,
  skip: { now: Date; by: string; reason: string },
): Promise<ParkedEvent> {
  await requireOpen(tx, id);
  await skipParkedEvent(tx, id, skip);
  return await getParkedEvent(tx, id);
}

async function requireOpen(tx: Tx, id: string): Promise<void> {
  const event = await lockParkedEvent(tx, id);
  if (!event) throw notFound();
  if (event.state === 'handled' || event.state === 'skipped')
    throw new Problem('parked_event_settled', `The event was ${event.state}.`);
}

async function getParkedEvent(tx: Tx, id: string): Promise<ParkedEvent> {
  return describe(
    await tx.selectFrom('parked_events').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
  );
}

function describe({ event: _event, ...row }: Selectable<ParkedEvents>): ParkedEvent {
  return {
    ...row,
    state: row.state,
    parked_at: row.parked_at.toISOString(),
    settled_at: row.settled_at?.toISOString() ?? null,
  };
}
