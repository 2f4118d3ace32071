import type { SlotBundle } from '@gpuaas/contracts/tasks';
import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import type { SlicePrice } from '../catalog/quote.ts';
import { fleetIndexOf } from '../fleet/fleet-index-of.ts';
import type { FleetIndex, Hold } from '../fleet/fleet-index.ts';
import { lockFreeSlots } from '../fleet/lock-free-slots.ts';
import type { PlacementRequest } from '../placement/candidate.ts';
import type { Placement } from '../placement/place.ts';
import { capacityRefusal } from './capacity-refusal.ts';

export interface Reservation {
  nodeId: string;
  /** Locked until the transaction ends. */
  slots: SlotBundle[];
}

type Scheduler = Pick<Services, 'policies'>;
type Refused = Extract<Placement, { fits: false }>;
type Offer = Pick<SlicePrice, 'allowedGpuCounts' | 'perGpuHour'>;

const QUICK_TRIES = 4;
/** Each lost try means that a rival won, so this many lose only to as many winners. */
const PATIENT_TRIES = 64;
const PATIENT_LOCK = 4_872_010;

/**
 * Ranks in memory, then locks and checks again in the database. A rival that holds the locks is stepped around first;
 * before refusing we wait for it, since it may roll back.
 */
export async function reserveSlots(
  services: Scheduler,
  tx: Tx,
  request: PlacementRequest,
  offer: Offer,
): Promise<Reservation> {
  const fleet = fleetIndexOf(services);
  await fleet.catchUp(tx);
  const quick = await tryQuickly(services, fleet, tx, request, offer);
  if (quick.won) return quick.won;
  // The patient wait in one line instead of all at once for the same slots.
  if (quick.rivals) await sql`select pg_advisory_xact_lock(${PATIENT_LOCK})`.execute(tx);
  return await tryPatiently(services, fleet, tx, request, offer);
}

async function tryQuickly(
  services: Scheduler,
  fleet: FleetIndex,
  tx: Tx,
  request: PlacementRequest,
  offer: Offer,
): Promise<{ won: Reservation | null; rivals: boolean }> {
  // What is lost stays held, so that the next try ranks the others.
  const lost: Hold[] = [];
  try {
    while (lost.length < QUICK_TRIES) {
      const rivals = fleet.holdsAny;
      const { hold } = fleet.place(request, offer.allowedGpuCounts);
      if (!hold) return { won: null, rivals };
      const slots = await lockHeld(services, tx, hold, request, 'step aside');
      if (slots) return { won: { nodeId: hold.nodeId, slots }, rivals };
      lost.push(hold);
      await fleet.catchUp(tx, [hold.nodeId]);
    }
    return { won: null, rivals: true };
  } finally {
    for (const hold of lost) fleet.giveBack(hold);
  }
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
    const slots = await lockHeld(services, tx, hold, request, 'wait');
    if (slots) return { nodeId: hold.nodeId, slots };
    fleet.giveBack(hold);
    if (attempt === PATIENT_TRIES) throw capacityRefusal(request, NO_REASON, offer.perGpuHour);
    await fleet.catchUp(tx, [hold.nodeId]);
  }
}

const NO_REASON: Refused = { fits: false, rejections: [], nearest: null, expectedAt: null };

async function lockHeld(
  { policies }: Scheduler,
  tx: Tx,
  hold: Hold,
  request: PlacementRequest,
  manner: 'step aside' | 'wait',
): Promise<SlotBundle[] | null> {
  const wanted = [{ slotIds: hold.slotIds, request }];
  return (await lockFreeSlots(policies, tx, wanted, manner === 'wait'))[0] ?? null;
}
