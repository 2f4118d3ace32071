import { sql } from 'kysely';
import { tenantEventTypes } from '@gpuaas/contracts/events';
import { permissionsAt } from '../../platform/auth/caller.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Consumer } from '../../platform/events/consumer.ts';
import type { LoggedEvent } from '../../platform/events/event-log.ts';
import { handleOnce, markHandled } from '../../platform/events/handle-once.ts';
import { listPeople } from '../tenancy/members/list-people.ts';
import { enqueueEvent } from './enqueue-delivery.ts';

const NAME = 'webhooks';

/** Turns each event of a tenant into one delivery for every webhook that is subscribed to it. */
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
    async handleTogether(events) {
      await db.transaction().execute(async (tx) => {
        const ids = events.map(({ envelope }) => envelope.event_id);
        const fresh = await markHandled(tx, NAME, ids);
        const listening = await tenantsWithWebhooks(tx, events);
        for (const event of events) {
          if (!fresh.has(event.envelope.event_id) || !listening.has(event.organizationId)) continue;
          await enqueueEvent(tx, await subscribers(tx, event), event.envelope);
        }
      });
    },
  };
}

/** Most tenants have no webhooks; their events need no query. */
async function tenantsWithWebhooks(
  tx: Tx,
  events: readonly LoggedEvent[],
): Promise<ReadonlySet<string | null>> {
  const tenants = new Set(events.flatMap(({ organizationId }) => organizationId ?? []));
  if (tenants.size === 0) return new Set();
  const rows = await tx
    .selectFrom('webhooks')
    .select('organization_id')
    .distinct()
    .where('organization_id', 'in', [...tenants])
    .where('state', '=', 'enabled')
    .execute();
  return new Set(rows.map(({ organization_id }) => organization_id));
}

async function subscribers(tx: Tx, event: LoggedEvent): Promise<string[]> {
  const { organizationId } = event;
  if (organizationId === null) return [];
  const { projects, owners } = await concerned(tx, organizationId, event.envelope.payload);
  const rows = await tx
    .selectFrom('webhooks')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where(sql<boolean>`(project_id = any (${projects}::uuid[]) or owner_user_id = any (${owners}::uuid[]))`)
    .where('state', '=', 'enabled')
    .where(sql<boolean>`(event_types = '{}' or ${event.envelope.event_type} = any (event_types))`)
    // A webhook must not receive events from before its creation.
    .where('created_at', '<=', new Date(event.envelope.occurred_at))
    .orderBy('id')
    .forKeyShare()
    .execute();
  return rows.map((row) => row.id);
}

/** Events about the whole tenant are about its funds: only for webhooks of people who may see those. */
async function concerned(
  tx: Tx,
  organizationId: string,
  { project_id = null, project_ids }: Record<string, unknown>,
): Promise<{ projects: string[]; owners: string[] }> {
  if (typeof project_id === 'string') return { projects: [project_id], owners: [] };
  if (project_id !== null) return { projects: [], owners: [] };
  const people = await listPeople(tx, organizationId);
  const readers = people.filter(({ bindings }) =>
    permissionsAt(bindings, { kind: 'tenant', organizationId }).has('billing.read'),
  );
  return {
    projects: Array.isArray(project_ids) ? project_ids : [],
    owners: readers.map(({ id }) => id),
  };
}
