import { GuestError } from './guest-error.ts';
import type { Guest } from './guest.ts';
import type {
  GuestObservation,
  GuestProbe,
  LogChunk,
  MemberObservation,
  MemberSpec,
  TeardownEvidence,
} from './members.ts';
import { callRunner, type RunnerCall } from './runner/call-runner.ts';
import { afterBegin, count, readAnswer, readLine } from './runner/read-answer.ts';
import { readEvidence, readMember, readObservation, readProbe } from './runner/read-observation.ts';
import { writeSpec } from './runner/write-spec.ts';

/** A payload of many gigabytes over a slow line. */
const PAYLOAD_MS = 30 * 60_000;
const START_MS = 60_000;
/** Beyond the time that the member gets: to kill, and to observe what is left. */
const STOP_MS = 60_000;
const HEADER_BYTES = 64 * 1024;

export async function probeGuest(guest: Guest): Promise<GuestProbe> {
  return readProbe(await one(guest, { verb: 'probe' }));
}

/** Everything that the platform has in the machine, and how busy the GPUs are. */
export async function observeGuest(guest: Guest): Promise<GuestObservation> {
  return readObservation(await ask(guest, { verb: 'observe' }));
}

/** Starts the member, unless it was started before; however often it is called, the member runs once. */
export async function startMember(guest: Guest, spec: MemberSpec): Promise<MemberObservation> {
  const { memberId, payload, ports, limits } = spec;
  const script = writeSpec(spec);
  const { members } = await observeGuest(guest);
  const before = members.find((member) => member.memberId === memberId);
  if (before && before.state !== 'absent') return before;
  if (payload)
    await ask(guest, {
      verb: 'payload',
      args: [memberId, payload.digest.replace(/^sha256:/, ''), payload.size, payload.kind],
      stdin: () => payload.open(),
      deadlineMs: PAYLOAD_MS,
    });
  const started = await one(guest, {
    verb: 'start',
    args: [memberId, limits.logBytes, ...ports],
    stdin: () => Promise.resolve(script),
    deadlineMs: START_MS,
  });
  return readMember(started);
}

/**
 * Asks the member's processes to end and forces them after the grace. It never starts again. Its files stay, so that
 * the log can be read: `removeMember` removes them.
 */
export async function stopMember(
  guest: Guest,
  memberId: string,
  graceSeconds: number,
): Promise<TeardownEvidence> {
  const grace = Math.ceil(graceSeconds);
  const call = { verb: 'stop', args: [memberId, grace], deadlineMs: grace * 1000 + STOP_MS } as const;
  return readEvidence(await one(guest, call), guest.now());
}

/** Removes the member's files, unless a process of it is left. */
export async function removeMember(guest: Guest, memberId: string): Promise<TeardownEvidence> {
  return readEvidence(
    await one(guest, { verb: 'remove', args: [memberId], deadlineMs: STOP_MS }),
    guest.now(),
  );
}

/** What the member wrote from this byte on, at most `maxBytes`. Fewer are no sign of the end. */
export async function readMemberLog(
  guest: Guest,
  memberId: string,
  offset: number,
  maxBytes: number,
): Promise<LogChunk> {
  const { output, nonce } = await callRunner(guest, {
    verb: 'logs',
    args: [memberId, offset, maxBytes],
    maxBytes: maxBytes + HEADER_BYTES,
  });
  const rest = afterBegin(output, nonce);
  const end = rest.indexOf('\n');
  if (end < 0) throw new GuestError('executor_error', 'The answer of the runner is cut off.');
  const header = readLine(rest.subarray(0, end).toString('utf8'));
  const bytes = rest.subarray(end + 1, end + 1 + Math.min(count(header, 'length'), maxBytes));
  return { offset: count(header, 'offset'), bytes, size: count(header, 'size') };
}

async function ask(guest: Guest, call: RunnerCall): Promise<ReadonlyMap<string, unknown>[]> {
  const { output, nonce } = await callRunner(guest, call);
  return readAnswer(output, nonce);
}

async function one(guest: Guest, call: RunnerCall): Promise<ReadonlyMap<string, unknown>> {
  const [fields] = await ask(guest, call);
  if (fields) return fields;
  throw new GuestError('executor_error', 'The runner in the machine gave an empty answer.');
}
