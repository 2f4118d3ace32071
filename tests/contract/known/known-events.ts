import { newId } from '@gpuaas/control-plane/platform/ids';
import { sql } from 'kysely';
import type { TestApi } from '../../harness/api.ts';

/** An event that a consumer has given up on. */
export async function seedParkedEvent({ services }: TestApi): Promise<string> {
  const id = newId();
  await sql`insert into event_consumers (name, cursor_xid, cursor_position) values ('seeded', '0', 0)
    on conflict do nothing`.execute(services.db);
  await services.db
    .insertInto('parked_events')
    .values({
      id,
      consumer: 'seeded',
      event_id: newId(),
      event_type: 'node.enrolled',
      subject_id: newId(),
      event: '{}',
      failures: 10,
      last_error: 'Seeded for the fuzz.',
    })
    .execute();
  return id;
}
