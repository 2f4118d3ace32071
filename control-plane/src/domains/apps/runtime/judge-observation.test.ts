import { describe, expect, it } from 'vitest';
import { judgeObservation } from './judge-observation.ts';

const exited = { state: 'exited', exitCode: null, signal: null, oom: false } as const;

describe('an observation of a member', () => {
  it.each([
    ['job', { ...exited, state: 'running' }, null, null],
    ['job', { ...exited, exitCode: 0 }, 'succeeded', null],
    ['service', { ...exited, exitCode: 0 }, 'stopped', 'cancelled'],
    ['job', { ...exited, exitCode: 3 }, 'failed', 'exit_nonzero'],
    ['service', { ...exited, signal: 9 }, 'failed', 'exit_nonzero'],
    ['job', { ...exited, signal: 9, oom: true }, 'failed', 'oom'],
    ['service', exited, 'failed', 'node_lost'],
    ['service', { ...exited, state: 'absent' }, 'failed', 'node_lost'],
  ] as const)('of a %s that is %o ends it as %s for %s', (kind, seen, ending, reason) => {
    const end = judgeObservation(kind, seen);
    expect(end?.ending ?? null).toBe(ending);
    expect(end?.reason ?? null).toBe(reason);
  });

  it('names the signal', () => {
    expect(judgeObservation('job', { ...exited, signal: 9 })?.message).toContain('SIGKILL');
  });
});
