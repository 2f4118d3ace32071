import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import type { Product } from '../catalog/quote.ts';
import { fleetIndexOf } from '../fleet/fleet-index-of.ts';
import type { FleetIndex, Hold } from '../fleet/fleet-index.ts';
import { lockFreeSlots } from '../fleet/lock-free-slots.ts';
import type { PlacementRequest } from '../placement/candidate.ts';
import type { Placement } from '../placement/place.ts';
import { capacityRefusal } from './capacity-refusal.ts';

/** Slots that stay locked until the transaction ends. */
export type Reservation = Hold;

type Scheduler = Pick<Services, 'policies'>;
type Refused = Extract<Placement, { fits: false }>;
type Offer = Pick<Product, 'allowedGpuCounts' | 'perGpuHour'>;

const QUICK_TRIES = 4;
/** Each lost try means that a rival won, so this many lose only to as many winners. */
const PATIENT_TRIES = 64;
const PATIENT_LOCK = 4_872_010;

/** One request: quickly if it can be, else patiently. */
export async function reserveSlots(
  services: Scheduler,
  tx: Tx,
  request: PlacementRequest,
  offer: Offer,
): Promise<Reservation> {
  const { won, rivals } = await reserveTogether(services, tx, [{ request, offer }]);
  if (won[0]) return won[0];
  // The patient wait in one line instead of all at once for the same slots.
  if (rivals) await sql`select pg_advisory_xact_lock(${PATIENT_LOCK})`.execute(tx);
  return await tryPatiently(services, fleetIndexOf(services), tx, request, offer);
}

/**
 * Ranks in memory, then locks and checks again in the database, with one statement for all. A rival that holds the
 * locks is stepped around; whoever loses is ranked again without touching those who won. Null for whoever found
 * nothing: that is no refusal yet, because rivals may roll back.
 */
export async function reserveTogether(
  { policies }: Scheduler,
  tx: Tx,
  asked: readonly { request: PlacementRequest; offer: Offer }[],
): Promise<{ won: (Reservation | null)[]; rivals: boolean }> {
  const fleet = fleetIndexOf({ policies });
  const won = asked.map((): Reservation | null => null);
  // What is lost stays held, so that the next try ranks others.
  const lost: Hold[] = [];
  await fleet.catchUp(tx);
  let rivals = fleet.holdsAny;
  try {
    let open = asked.map((_, order) => order);
    for (let attempt = 0; attempt < QUICK_TRIES && open.length > 0; attempt += 1) {
      const tries = open.flatMap((order) => {
        const { request, offer } = asked[order]!;
        const { hold } = fleet.place(request, offer.allowedGpuCounts);
        return hold ? [{ order, hold, request, slotIds: hold.slotIds }] : [];
      });
      if (tries.length === 0) break;
      const locked = await lockFreeSlots(policies, tx, tries, false);
      const losers = tries.filter((_, index) => !locked[index]);
      tries.forEach(({ order, hold }, index) => {
        if (locked[index]) won[order] = hold;
      });
      if (losers.length > 0) {
        rivals = true;
        lost.push(...losers.map(({ hold }) => hold));
        await fleet.catchUp(
          tx,
          losers.map(({ hold }) => hold.nodeId),
        );
      }
      open = losers.map(({ order }) => order);
    }
    return { won, rivals };
  } finally {
    for (const hold of lost) fleet.giveBack(hold);
  }
}

/**
 * Why those who found nothing get nothing, where nobody but the winners of the same transaction is in their way: if it
 * does not commit, nobody is told.
 */
export async function refuseUnserved<A extends { request: PlacementRequest; offer: Offer }>(
  { policies }: Scheduler,
  tx: Tx,
  asked: readonly A[],
  won: readonly (Reservation | null)[],
): Promise<Map<A, Problem>> {
  const refused = new Map<A, Problem>();
  const losers = asked.filter((_, order) => won[order] === null);
  if (losers.length === 0) return refused;
  const fleet = fleetIndexOf({ policies });
  await fleet.catchUp(tx, [], 'now');
  if (fleet.holdsBeside(new Set(won.filter((hold) => hold !== null)))) return refused;
  for (const loser of losers) {
    const { hold, ...placement } = fleet.place(loser.request, loser.offer.allowedGpuCounts);
    if (hold) fleet.giveBack(hold);
    else refused.set(loser, capacityRefusal(loser.request, placement as Refused, loser.offer.perGpuHour));
  }
  return refused;
}

async function tryPatiently(
  services: Scheduler,
  fleet: FleetIndex,
  tx: Tx,
  request: PlacementRequest,
  offer: Offer,
): Promise<Reservation> {
  await fleet.catchUp(tx, [], 'now');
  for (let attempt = 1; ; attempt += 1) {
    const { hold, ...placement } = fleet.placeIgnoringHolds(request, offer.allowedGpuCounts);
    if (!hold) throw capacityRefusal(request, placement as Refused, offer.perGpuHour);
    const [locked] = await lockFreeSlots(services.policies, tx, [{ slotIds: hold.slotIds, request }], true);
    if (locked) return hold;
    fleet.giveBack(hold);
    if (attempt === PATIENT_TRIES) throw capacityRefusal(request, NO_REASON, offer.perGpuHour);
    await fleet.catchUp(tx, [hold.nodeId]);
  }
}

const NO_REASON: Refused = { fits: false, rejections: [], nearest: null, expectedAt: null };
