import { sql } from 'kysely';
import { tenantEventTypes } from '@gpuaas/contracts/events';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Consumer } from '../../platform/events/consumer.ts';
import type { LoggedEvent } from '../../platform/events/event-log.ts';
import { handleOnce } from '../../platform/events/handle-once.ts';
import { enqueueEvent } from './enqueue-delivery.ts';

const NAME = 'webhooks';

/** Turns each event of a tenant into one delivery for every webhook of its project that asked for it. */
export function webhookFanOut(db: Db): Consumer {
  return {
    name: NAME,
    types: tenantEventTypes,
    startFrom: 'now',
    async handle(event) {
      await db.transaction().execute(async (tx) => {
        await handleOnce(tx, NAME, event.envelope.event_id, async () => {
          await enqueueEvent(tx, await subscribers(tx, event), event.envelope);
        });
      });
    },
  };
}

async function subscribers(tx: Tx, event: LoggedEvent): Promise<string[]> {
  const projectId = event.envelope.payload['project_id'];
  if (event.organizationId === null || typeof projectId !== 'string') return [];
  const rows = await tx
    .selectFrom('webhooks')
    .select('id')
    .where('organization_id', '=', event.organizationId)
    .where('project_id', '=', projectId)
    .where('state', '=', 'enabled')
    .where(sql<boolean>`(event_types = '{}' or ${event.envelope.event_type} = any (event_types))`)
    // A webhook that appears later must not get what happened before it.
    .where('created_at', '<=', new Date(event.envelope.occurred_at))
    .orderBy('id')
    .forKeyShare()
    .execute();
  return rows.map((row) => row.id);
}
