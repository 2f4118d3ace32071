import { sql } from 'kysely';
import { present } from '../../../platform/present.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import type { SlotHold, WithFleetIndex } from '../../fleet/index/fleet-index.ts';
import { lockFreeSlots } from '../../fleet/slots/lock-free-slots.ts';
import type { Placement } from '../../placement/place.ts';
import { capacityRefusal } from './capacity-refusal.ts';
import type { PreparedLaunch } from './launch.ts';

type Scheduler = Pick<Services, 'policies'> & WithFleetIndex;
type Unplaced = Extract<Placement, { fits: false }>;
type Wanted = Pick<PreparedLaunch, 'request' | 'offer'>;

const QUICK_TRIES = 4;
/** Each lost try means that a rival won, so this many lose only to as many winners. */
const PATIENT_TRIES = 64;
const PATIENT_LOCK = 4_872_010;

/** `index`: the launch that does not fit. */
export type AllSlots =
  | { kind: 'locked'; holds: SlotHold[] }
  | { kind: 'refused'; index: number; problem: Problem };

/**
 * Locks slots for every launch, or for none: quickly if possible, else by waiting for rivals. A refusal is final, and
 * the fleet index keeps no hold of it.
 */
export async function reserveAllSlots(
  services: Scheduler,
  tx: Tx,
  launches: readonly Wanted[],
): Promise<AllSlots> {
  await sql`savepoint quick_slots`.execute(tx);
  const { won, rivals } = await reserveSlots(services, tx, launches);
  const holds = won.filter((hold) => hold !== null);
  if (holds.length === launches.length) {
    await sql`release savepoint quick_slots`.execute(tx);
    return { kind: 'locked', holds };
  }
  for (const hold of holds) services.fleetIndex.giveBack(hold);
  // Locked slots must not block the launch that has the patient lock while this one waits for it.
  await sql`rollback to savepoint quick_slots`.execute(tx);
  // A group locks slots while it waits for others: without this lock two groups could block each other.
  if (rivals || launches.length > 1) await sql`select pg_advisory_xact_lock(${PATIENT_LOCK})`.execute(tx);
  return await reserveAllPatiently(services, tx, launches);
}

/**
 * Ranks in memory, then locks and checks again in the database, with one statement for all. It passes over slots that
 * rivals have locked and ranks the losers again. Null for a launch that found nothing: that is no refusal yet, because
 * rivals may roll back.
 */
export async function reserveSlots(
  { policies, fleetIndex: fleet }: Scheduler,
  tx: Tx,
  launches: readonly Wanted[],
): Promise<{ won: (SlotHold | null)[]; rivals: boolean }> {
  const won = launches.map((): SlotHold | null => null);
  // Lost slots stay held, so that the next try ranks others.
  const lost: SlotHold[] = [];
  await fleet.catchUp(tx);
  let rivals = fleet.holdsAny;
  try {
    let open = launches.map((_, index) => index);
    for (let attempt = 0; attempt < QUICK_TRIES && open.length > 0; attempt += 1) {
      const tries = open.flatMap((index) => {
        const { request, offer } = present(launches[index], 'launch');
        const { hold } = fleet.place(request, offer.allowedGpuCounts);
        return hold ? [{ index, hold, request, slotIds: hold.slotIds }] : [];
      });
      if (tries.length === 0) break;
      const locked = await lockFreeSlots(policies, tx, tries, false);
      const losers = tries.filter((_, at) => !locked[at]);
      tries.forEach(({ index, hold }, at) => {
        if (locked[at]) won[index] = hold;
      });
      if (losers.length > 0) {
        rivals = true;
        lost.push(...losers.map(({ hold }) => hold));
        await fleet.catchUp(
          tx,
          losers.map(({ hold }) => hold.nodeId),
        );
      }
      open = losers.map(({ index }) => index);
    }
    return { won, rivals };
  } finally {
    for (const hold of lost) fleet.giveBack(hold);
  }
}

/**
 * Refusals of launches that found nothing where only winners of the same transaction are in the way. If the
 * transaction does not commit, no caller sees them.
 */
export async function refuseUnplaced<W extends Wanted>(
  { fleetIndex: fleet }: Scheduler,
  tx: Tx,
  launches: readonly W[],
  won: readonly (SlotHold | null)[],
): Promise<Map<W, Problem>> {
  const refused = new Map<W, Problem>();
  const losers = launches.filter((_, index) => won[index] === null);
  if (losers.length === 0) return refused;
  await fleet.catchUp(tx, [], 'now');
  if (fleet.holdsBeside(new Set(won.filter((hold) => hold !== null)))) return refused;
  for (const loser of losers) {
    const placement = fleet.place(loser.request, loser.offer.allowedGpuCounts);
    if (placement.fits) fleet.giveBack(placement.hold);
    else refused.set(loser, refusalOf(loser, placement));
  }
  return refused;
}

/** Waits for rivals at every slot, one launch after the other. */
async function reserveAllPatiently(
  services: Scheduler,
  tx: Tx,
  launches: readonly Wanted[],
): Promise<AllSlots> {
  const { fleetIndex: fleet } = services;
  const holds: SlotHold[] = [];
  let isComplete = false;
  try {
    await fleet.catchUp(tx, [], 'now');
    for (const [index, launch] of launches.entries()) {
      const placed = await reservePatiently(services, tx, launch, new Set(holds));
      if (placed.kind === 'refused') return { ...placed, index };
      holds.push(placed.hold);
    }
    isComplete = true;
    return { kind: 'locked', holds };
  } finally {
    if (!isComplete) for (const hold of holds) fleet.giveBack(hold);
  }
}

async function reservePatiently(
  { policies, fleetIndex: fleet }: Scheduler,
  tx: Tx,
  launch: Wanted,
  own: ReadonlySet<SlotHold>,
): Promise<{ kind: 'locked'; hold: SlotHold } | { kind: 'refused'; problem: Problem }> {
  const { request, offer } = launch;
  for (let attempt = 1; ; attempt += 1) {
    const placement = fleet.placeBesideOnly(own, request, offer.allowedGpuCounts);
    if (!placement.fits) return { kind: 'refused', problem: refusalOf(launch, placement) };
    const { hold } = placement;
    const [locked] = await lockFreeSlots(policies, tx, [{ slotIds: hold.slotIds, request }], true);
    if (locked) return { kind: 'locked', hold };
    fleet.giveBack(hold);
    if (attempt === PATIENT_TRIES) return { kind: 'refused', problem: refusalOf(launch, NO_REASON) };
    await fleet.catchUp(tx, [hold.nodeId]);
  }
}

function refusalOf({ request, offer }: Wanted, placement: Unplaced): Problem {
  return capacityRefusal(request, placement, offer.perGpuHour);
}

const NO_REASON: Unplaced = { fits: false, rejections: [], nearest: null, expectedAt: null };
