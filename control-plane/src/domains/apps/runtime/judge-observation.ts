import { constants } from 'node:os';
import type { MemberObservation } from '../executors/allocation/members.ts';
import type { End } from '../instances/begin-ending.ts';
import type { InstanceRow } from '../instances/record-event.ts';

/** How the instance ends after this observation of its only member; null while it lives. */
export function judgeObservation(
  kind: InstanceRow['kind'],
  seen: Pick<MemberObservation, 'state' | 'exitCode' | 'signal' | 'oom'>,
): End | null {
  const { state, exitCode, signal, oom } = seen;
  if (state === 'running') return null;
  if (state === 'absent')
    return failed('node_lost', 'The process and its files are gone from the machine', null);
  if (oom) return failed('oom', 'The machine had no memory left and killed the program', exitCode);
  if (signal !== null)
    return failed('exit_nonzero', `The program was ended by ${signalName(signal)}`, exitCode);
  if (exitCode === null)
    return failed(
      'node_lost',
      'The process is gone and left no exit code: the machine was restarted, or its supervisor was ended',
      null,
    );
  if (exitCode !== 0) return failed('exit_nonzero', `The program ended with exit code ${exitCode}`, exitCode);
  if (kind === 'job')
    return { ending: 'succeeded', reason: null, exitCode, message: 'The program ended with exit code 0' };
  return {
    ending: 'stopped',
    reason: 'cancelled',
    exitCode,
    message: 'The program ended itself with exit code 0',
  };
}

export function signalName(signal: number): string {
  const known = Object.entries(constants.signals).find(([, number]) => number === signal);
  return known?.[0] ?? `signal ${signal}`;
}

function failed(reason: NonNullable<End['reason']>, message: string, exitCode: number | null): End {
  return { ending: 'failed', reason, message, exitCode };
}
