import { setTimeout as pause } from 'node:timers/promises';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { GuestError } from '../executors/allocation/guest-error.ts';
import { observeGuest } from '../executors/allocation/run-members.ts';
import type { MemberRow } from '../instances/describe-instance.ts';
import { judgeObservation } from './judge-observation.ts';
import { isEnding, loadInstance } from './load-instance.ts';
import type { StartOutcome } from './start-outcome.ts';
import type { RuntimeServices } from './runtime-services.ts';

const PAUSE_MS = 500;
/** Probes of a port that does not answer, for each observation of the process. */
const LOOK_EVERY = 4;

type Readiness = components['schemas']['AppReadiness'];

/** Waits until the port that visitors will use answers through the tunnel. An app without a probe is ready. */
export async function awaitReady(services: RuntimeServices, instanceId: string): Promise<StartOutcome> {
  const { version, members, instance } = await loadInstance(services.db, instanceId);
  const { readiness, ports } = version.runtime_profile;
  const [member] = members;
  const port = ports.find(({ name }) => name === readiness?.port)?.port;
  if (!readiness || port === undefined || !member) return { kind: 'ready', detail: null };
  const due = deadlineOf(member, readiness, services.clock.now());
  let detail = 'The port was not asked yet.';
  for (let round = 0; services.clock.now() < due; round++) {
    if (await isEnding(services.db, instanceId)) return { kind: 'ending' };
    try {
      const probe = await services.guests.probe(member.allocation_id, port, probeOf(readiness));
      if (probe.ready) return { kind: 'ready', detail: probe.detail };
      detail = probe.detail;
      const end = round % LOOK_EVERY === 0 ? await lookAt(services, member, instance.kind) : null;
      if (end) return end;
    } catch (error) {
      if (!(error instanceof GuestError)) throw error;
      detail = error.message;
    }
    await pause(PAUSE_MS);
  }
  return { kind: 'failed', reason: 'probe_failed', message: `Not ready in time: ${detail}` };
}

function probeOf({ path }: Readiness): { kind: 'tcp' } | { kind: 'http'; path: string } {
  return path === null ? { kind: 'tcp' } : { kind: 'http', path };
}

function deadlineOf({ started_at: started }: MemberRow, { timeout_seconds }: Readiness, now: Date): Date {
  return new Date((started ?? now).getTime() + timeout_seconds * 1000);
}

async function lookAt(
  { guests }: RuntimeServices,
  member: MemberRow,
  kind: 'service' | 'job',
): Promise<StartOutcome | null> {
  const { members } = await guests.visit(member.allocation_id, observeGuest);
  const seen = members.find(({ memberId }) => memberId === member.id);
  const end = seen && judgeObservation(kind, seen);
  if (!end) return null;
  const { reason, message, exitCode = null } = end;
  return { kind: 'failed', reason: reason ?? 'exit_nonzero', message, exitCode };
}
