import { setTimeout as pause } from 'node:timers/promises';
import type { MemberObservation, GuestProbe } from '../executors/allocation/members.ts';
import { GuestError } from '../executors/allocation/guest-error.ts';
import { probeGuest, startMember } from '../executors/allocation/run-members.ts';
import type { MemberRow } from '../instances/describe-instance.ts';
import { lockInstance } from '../instances/move-instance.ts';
import { recordAppEvent } from '../instances/record-event.ts';
import { isEnding, loadInstance, type LoadedInstance } from './load-instance.ts';
import { platformVariables } from '../platform-door/platform-variables.ts';
import { memberSpec, type PayloadContent } from './member-spec.ts';
import { takeSecrets } from './member-secrets.ts';
import { outcomeOf, type StartOutcome } from './start-outcome.ts';
import type { RuntimeServices } from './runtime-services.ts';

const PAUSE_MS = 1000;
const LOOK_MS = 1000;

/** Starts the process of every member, unless it runs already, and records it. */
export async function startMembers(services: RuntimeServices, instanceId: string): Promise<StartOutcome> {
  const loaded = await loadInstance(services.db, instanceId);
  const { instance, members } = loaded;
  for (let lost: string | null = null; ;) {
    if (await isEnding(services.db, instanceId)) return { kind: 'ending' };
    if (instance.due_at !== null && services.clock.now() > instance.due_at)
      return { kind: 'failed', reason: 'bootstrap_timeout', message: lost ?? 'The start took too long' };
    try {
      for (const member of members) await startOne(services, loaded, member);
      return { kind: 'ready', detail: null };
    } catch (error) {
      if (await isEnding(services.db, instanceId)) return { kind: 'ending' };
      const outcome = outcomeOf(error);
      if (outcome) return outcome;
      lost = error instanceof Error ? error.message : null;
      await pause(PAUSE_MS);
    }
  }
}

async function startOne(services: RuntimeServices, loaded: LoadedInstance, member: MemberRow): Promise<void> {
  const { db, guests, blobs } = services;
  const { instance, version } = loaded;
  const own = platformVariables(services, loaded);
  const secrets = await takeSecrets(services, member.id, instance.project_id, version.secrets, own);
  const content = await payloadOf(services, version.artifact_ref);
  const spec = memberSpec(blobs, loaded, member, { secrets, content });
  const calledOff = new AbortController();
  const watch = setInterval(() => {
    isEnding(db, instance.id).then(
      (ending) => ending && calledOff.abort(),
      () => undefined,
    );
  }, LOOK_MS);
  try {
    await guests.enter(
      member.allocation_id,
      async (guest) => {
        const probe = await probeGuest(guest);
        if (probe.missing.length > 0)
          throw new GuestError('permissions', `The machine has no ${probe.missing.join(', ')}.`);
        await recordStarted(services, member, probe, await startMember(guest, spec));
      },
      calledOff.signal,
    );
  } finally {
    clearInterval(watch);
  }
}

/** The content that an artifact delivers; its own digest, or that of its layer in the registry. */
async function payloadOf({ db }: RuntimeServices, digest: string | null): Promise<PayloadContent | null> {
  if (digest === null) return null;
  const row = await db
    .selectFrom('app_artifacts')
    .select(['payload_digest', 'bytes'])
    .where('digest', '=', digest)
    .executeTakeFirstOrThrow();
  return { digest: row.payload_digest, size: Number(row.bytes) };
}

/** Once for each member, however often it is started. */
async function recordStarted(
  { db, clock }: RuntimeServices,
  member: MemberRow,
  probe: GuestProbe,
  { pid, startedAt }: MemberObservation,
): Promise<void> {
  const now = clock.now();
  await db.transaction().execute(async (tx) => {
    const instance = await lockInstance(tx, member.instance_id);
    const first = await tx
      .updateTable('app_instance_members')
      .set({ facts: JSON.stringify(probe), started_at: startedAt ?? now })
      .where('id', '=', member.id)
      .where('started_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (!first) return;
    await recordAppEvent(tx, now, instance, {
      type: 'member_added',
      memberId: member.id,
      message: 'The process was started in the machine',
      payload: { pid },
    });
  });
}
