import type { Selectable } from 'kysely';
import { inBatches } from '../../../platform/db/in-batches.ts';
import { recordAudit } from '../../../platform/audit/record.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import type { CapacityReservations } from '../../../platform/db/generated/schema.ts';
import { emit } from '../../../platform/events/emit.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { accountKey, readCommitments } from '../../billing/funds/commitments.ts';
import { covers, keptBeside } from '../../billing/funds/covers.ts';
import { availableMicros, readFunds } from '../../billing/funds/tenant-funds.ts';
import { isUsed } from './list-reservations.ts';

type ReservationRow = Selectable<CapacityReservations>;
export type LapseReason = 'unused' | 'unfunded';

const BATCH = 200;

/** Ends reservations that are unused, and those that the balance no longer covers. */
export const lapseReservations: Tick<Services> = {
  name: 'allocations.lapse_reservations',
  everySeconds: 60,
  catchUp: 'skip',
  run: (services) => checkReservations(services),
};

/** Page by page; each reservation is decided in a separate transaction with its row locked. */
export async function checkReservations(services: Services): Promise<void> {
  await inBatches<{ id: string }>(BATCH, async (last) => {
    const page = await liveReservations(services, last?.id ?? null);
    // Newest first: if the balance covers only some, the oldest stay.
    for (const { id } of page) await checkReservation(services, id);
    return page;
  });
}

async function liveReservations({ db, clock }: Services, before: string | null): Promise<{ id: string }[]> {
  return await db
    .selectFrom('capacity_reservations')
    .select('id')
    .where('lapses', '=', true)
    .where('cancelled_at', 'is', null)
    .where('ends_at', '>', clock.now())
    .$call(fromCursor(before, (q, value) => q.where('id', '<', value)))
    .orderBy('id', 'desc')
    .limit(BATCH)
    .execute();
}

async function checkReservation(services: Services, id: string): Promise<void> {
  await services.db.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom('capacity_reservations')
      .selectAll()
      .where('id', '=', id)
      .where('cancelled_at', 'is', null)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!row) return;
    const unusedSince = await since(services, tx, row);
    const lapse = await whyLapsed(services, tx, row, unusedSince);
    if (lapse !== null) return await lapseReservation(services, tx, row, lapse);
    const now = services.clock.now();
    const isInUse = unusedSince === null && row.starts_at <= now;
    if (!isInUse && unusedSince?.getTime() === row.unused_since?.getTime()) return;
    await tx
      .updateTable('capacity_reservations')
      .set({ unused_since: unusedSince, ...(isInUse ? { used_at: now } : {}) })
      .where('id', '=', id)
      .execute();
  });
}

/** Since when too few of its GPUs are used; null while enough are used, and before its period. */
async function since(services: Services, tx: Tx, row: ReservationRow): Promise<Date | null> {
  const now = services.clock.now();
  if (row.starts_at > now) return null;
  return (await isUsed(services, tx, row)) ? null : (row.unused_since ?? now);
}

async function whyLapsed(
  { policies, clock }: Services,
  tx: Tx,
  row: ReservationRow,
  unusedSince: Date | null,
): Promise<LapseReason | null> {
  const scope = { organizationId: row.organization_id };
  const now = clock.now();
  const patience = policies.get('reservations.unused_lapse_seconds', scope) * 1000;
  if (unusedSince !== null && now.getTime() - unusedSince.getTime() >= patience) return 'unused';
  if (row.currency === null || row.held_per_hour_micros === 0n) return null;
  const bound = (await readCommitments(tx, row.organization_id, now)).get(
    accountKey(row.organization_id, row.currency),
  );
  const funds = (await readFunds(tx, now, row.organization_id)).find(
    ({ currency }) => currency === row.currency,
  );
  const credit = policies.get('billing.credit_line_micros', scope);
  const available = funds ? availableMicros(funds, credit) : BigInt(credit);
  const holdSeconds = policies.get('reservations.hold_seconds', scope);
  // Leases keep spending; the balance must cover the held funds of reservations as well.
  return covers(available, 0n, 0, keptBeside(bound?.kept ?? [], []), holdSeconds) ? null : 'unfunded';
}

async function lapseReservation(
  { policies, clock, log }: Services,
  tx: Tx,
  row: ReservationRow,
  lapse: LapseReason,
): Promise<void> {
  const { id, organization_id: organizationId, project_id: projectId } = row;
  const scope = { organizationId };
  await tx
    .updateTable('capacity_reservations')
    .set({ cancelled_at: clock.now(), lapse_reason: lapse })
    .where('id', '=', id)
    .execute();
  await tx.deleteFrom('node_promises').where('reservation_id', '=', id).execute();
  const percent = policies.get('reservations.used_percent', scope);
  const seconds = policies.get('reservations.unused_lapse_seconds', scope);
  const message =
    lapse === 'unused'
      ? `Less than ${percent}% of its ${row.gpu_count} GPUs were used for ${seconds} s.`
      : 'The balance no longer covers what is held for it.';
  const correlationId = newId();
  await emit(tx, {
    type: 'reservation.lapsed',
    subjectId: id,
    organizationId,
    correlationId,
    payload: {
      reservation_id: id,
      organization_id: organizationId,
      project_id: projectId,
      region: row.region,
      sku: row.sku,
      node_count: row.node_count,
      reason: row.reason,
      lapse_reason: lapse,
      message,
    },
  });
  await recordAudit(tx, {
    actorUserId: null,
    actorRole: 'platform',
    action: 'reservation.lapse',
    targetType: 'reservation',
    targetId: id,
    result: 'succeeded',
    correlationId,
    organizationId,
    detail: { lapse_reason: lapse, message },
  });
  log.info({ reservation_id: id, lapse_reason: lapse }, 'a reservation lapsed');
}
