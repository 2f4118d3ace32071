import type { Selectable } from 'kysely';
import type { Db, Tx } from '../../../platform/db/database.ts';
import type { Nodes } from '../../../platform/db/generated/schema.ts';
import type { FleetNeeds } from '../needs.ts';
import { cordonsByNode, type Cordon } from '../nodes/cordons.ts';
import type { Connection } from './derive-node-states.ts';
import { emptySlotCounts, postureOf, type Posture, type SlotCounts } from './posture.ts';

export interface NodePosture {
  posture: Posture;
  reason: string;
  slots: SlotCounts;
  cordons: Cordon[];
  connection: Connection;
}

interface SlotFacts {
  counts: SlotCounts;
  unhealthyAvailable: number;
}

/** The posture of each host and its reasons, given the state of its connection. */
export async function findPostures(
  { leases }: Pick<FleetNeeds, 'leases'>,
  db: Db | Tx,
  rows: Selectable<Nodes>[],
  connectionOf: (row: Selectable<Nodes>) => Connection,
): Promise<Map<string, NodePosture>> {
  if (rows.length === 0) return new Map();
  const ids = rows.map((row) => row.id);
  const slots = await slotFacts(db, ids);
  const exclusive = await leases.findBaremetalClaims(db, ids);
  const cordons = await cordonsByNode(db, ids);
  return new Map(
    rows.map((row) => {
      const { counts, unhealthyAvailable } = slots.get(row.id) ?? noSlots();
      const connection = connectionOf(row);
      const why = cordons.get(row.id) ?? [];
      const found = postureOf({
        mode: row.mode,
        connected: connection === 'connected',
        draining: row.draining,
        cordons: why.map((cordon) => cordon.detail),
        exclusivelyClaimed: exclusive.has(row.id),
        hostCleanupBlocked: exclusive.get(row.id)?.cleanupBlocked ?? false,
        slots: counts,
        unhealthyAvailable,
      });
      return [row.id, { ...found, slots: counts, cordons: why, connection }];
    }),
  );
}

async function slotFacts(db: Db | Tx, nodeIds: string[]): Promise<Map<string, SlotFacts>> {
  const rows = await db
    .selectFrom('node_resource_slots')
    .select((e) => [
      'node_id',
      'state',
      e.fn.countAll<bigint>().as('count'),
      e.fn.countAll<bigint>().filterWhere('health_state', '=', 'unhealthy').as('unhealthy'),
    ])
    .where('node_id', 'in', nodeIds)
    .groupBy(['node_id', 'state'])
    .execute();
  const facts = new Map<string, SlotFacts>();
  for (const row of rows) {
    const entry = facts.get(row.node_id) ?? noSlots();
    entry.counts[row.state] = Number(row.count);
    if (row.state === 'available') entry.unhealthyAvailable = Number(row.unhealthy);
    facts.set(row.node_id, entry);
  }
  return facts;
}

function noSlots(): SlotFacts {
  return { counts: emptySlotCounts(), unhealthyAvailable: 0 };
}
