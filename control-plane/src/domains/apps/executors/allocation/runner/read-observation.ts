import type { GuestObservation, GuestProbe, MemberObservation, TeardownEvidence } from '../members.ts';
import { GuestError } from '../guest-error.ts';
import { count, countOrNull, flag, list, ports, word } from './read-answer.ts';

type Fields = ReadonlyMap<string, unknown>;

const TICKS_PER_SECOND = 100;
/** A shell adds the number of the signal to this. */
const SIGNALLED = 128;
const LAST_SIGNAL = 64;

export function readObservation(answer: readonly Fields[]): GuestObservation {
  return {
    members: answer.filter((fields) => fields.has('member')).map(readMember),
    gpus: answer
      .filter((fields) => fields.has('gpu'))
      .map((fields) => ({
        index: count(fields, 'gpu'),
        utilisationPercent: Math.min(100, count(fields, 'use')),
        memoryUsedMb: count(fields, 'memory'),
      })),
  };
}

export function readMember(fields: Fields): MemberObservation {
  const status = countOrNull(fields, 'status');
  const signalled = status !== null && status > SIGNALLED && status <= SIGNALLED + LAST_SIGNAL;
  return {
    memberId: word(fields, 'member'),
    state: stateOf(fields),
    pid: countOrNull(fields, 'pid'),
    exitCode: signalled ? null : status,
    signal: signalled ? status - SIGNALLED : null,
    oom: flag(fields, 'oom'),
    startedAt: timeOf(fields, 'started'),
    endedAt: timeOf(fields, 'ended'),
    cpuSeconds: count(fields, 'ticks') / TICKS_PER_SECOND,
    memoryBytes: count(fields, 'memory'),
    listening: ports(fields, 'listening').toSorted((a, b) => a - b),
    filesPresent: flag(fields, 'files'),
    logBytes: count(fields, 'log'),
  };
}

export function readEvidence(fields: Fields, observedAt: Date): TeardownEvidence {
  return {
    processes: count(fields, 'processes'),
    ports: ports(fields, 'ports'),
    files: flag(fields, 'files'),
    forced: flag(fields, 'forced'),
    observedAt,
  };
}

export function readProbe(fields: Fields): GuestProbe {
  return {
    uid: count(fields, 'uid'),
    processors: count(fields, 'processors'),
    memoryBytes: count(fields, 'memory'),
    diskFreeBytes: count(fields, 'disk'),
    missing: list(fields, 'missing').map((tool) => String(tool).slice(0, 100)),
    node: flag(fields, 'node'),
    podman: flag(fields, 'podman'),
    nvidiaSmi: flag(fields, 'nvidia'),
  };
}

function stateOf(fields: Fields): MemberObservation['state'] {
  const state = word(fields, 'state');
  if (state === 'absent' || state === 'running' || state === 'exited') return state;
  throw new GuestError('executor_error', 'The runner tells a state that does not exist.');
}

/** Later than any clock that is merely wrong: no valid time. */
const LAST_SECOND = 8_640_000_000_000 / 1000;

function timeOf(fields: Fields, name: string): Date | null {
  const seconds = countOrNull(fields, name);
  return seconds === null ? null : new Date(Math.min(seconds, LAST_SECOND) * 1000);
}
