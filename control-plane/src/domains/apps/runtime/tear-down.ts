import { setTimeout as pause } from 'node:timers/promises';
import { GuestError, type GuestFailure } from '../executors/allocation/guest-error.ts';
import type { Guest } from '../executors/allocation/guest.ts';
import type { TeardownEvidence } from '../executors/allocation/members.ts';
import { observeGuest, removeMember, stopMember } from '../executors/allocation/run-members.ts';
import type { Teardown } from '../../../platform/db/stored-types.ts';
import type { MemberRow } from '../instances/describe-instance.ts';
import { shipLog } from '../logs/ship-log.ts';
import type { RuntimeServices } from './runtime-services.ts';

const PAUSE_MS = 1000;

/** Evidence, or why there is none yet. `blockedBy` is set where the platform could not work in the machine. */
export type TeardownResult =
  | { teardown: Teardown; open: null; blockedBy: null }
  | { teardown: null; open: string; blockedBy: GuestFailure | null };

/**
 * Stops a member and removes its files, and says what was seen afterwards. A machine that does not answer is asked again
 * until the time is over.
 */
export async function tearDown(
  services: RuntimeServices,
  member: Pick<MemberRow, 'id' | 'allocation_id'>,
  { graceSeconds, until }: { graceSeconds: number; until: Date },
): Promise<TeardownResult> {
  for (;;) {
    const { result, lasts } = await tryOnce(services, member, graceSeconds);
    if (result.teardown || lasts || services.clock.now() >= until) return result;
    await pause(PAUSE_MS);
  }
}

async function tryOnce(
  services: RuntimeServices,
  member: Pick<MemberRow, 'id' | 'allocation_id'>,
  graceSeconds: number,
): Promise<{ result: TeardownResult; lasts: boolean }> {
  try {
    const evidence = await services.guests.enter(member.allocation_id, (guest) =>
      stopInGuest(services, guest, member.id, graceSeconds),
    );
    return { result: judgeEvidence(evidence), lasts: false };
  } catch (error) {
    if (!(error instanceof GuestError)) throw error;
    const { message, reason } = error;
    return { result: { teardown: null, open: message, blockedBy: reason }, lasts: reason !== 'node_lost' };
  }
}

/** The log is read between the end of the process and the end of its files. */
async function stopInGuest(
  services: RuntimeServices,
  guest: Guest,
  memberId: string,
  graceSeconds: number,
): Promise<TeardownEvidence> {
  const stopped = await stopMember(guest, memberId, graceSeconds);
  const { members } = await observeGuest(guest);
  const seen = members.find((one) => one.memberId === memberId);
  if (seen) await shipLog(services, guest, memberId, { written: seen.logBytes, last: true });
  const removed = await removeMember(guest, memberId);
  return { ...removed, forced: stopped.forced || removed.forced };
}

function judgeEvidence({ processes, ports, files, forced, observedAt }: TeardownEvidence): TeardownResult {
  if (processes === 0 && ports.length === 0 && !files)
    return {
      teardown: {
        proof: 'observed',
        processes: 0,
        ports: [],
        files: false,
        forced,
        observed_at: observedAt.toISOString(),
      },
      open: null,
      blockedBy: null,
    };
  const left = [
    ...(processes > 0 ? [`${processes} processes`] : []),
    ...(ports.length > 0 ? [`port ${ports.join(', ')}`] : []),
    ...(files ? ['files'] : []),
  ];
  return { teardown: null, open: `Still in the machine: ${left.join(', ')}.`, blockedBy: null };
}
