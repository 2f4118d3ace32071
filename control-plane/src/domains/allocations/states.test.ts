import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canTransition, releasable, transitions, type AllocationState } from './states.ts';

const states = Object.keys(transitions) as AllocationState[];

describe('allocation states', () => {
  it('lead from every state to an end', () => {
    const ends = new Set<AllocationState>(['released', 'failed']);
    for (const start of states) {
      const reached = new Set([start]);
      for (const state of reached) for (const next of transitions[state]) reached.add(next);
      expect([...reached].some((state) => ends.has(state))).toBe(true);
    }
  });

  it('never leave an end, and never go back before active', () => {
    const walk = fc.array(fc.nat({ max: 7 }), { maxLength: 12 });
    fc.assert(
      fc.property(walk, (choices) => {
        let state: AllocationState = 'reserved';
        let wasActive = false;
        for (const choice of choices) {
          const next: readonly AllocationState[] = transitions[state];
          if (next.length === 0) return;
          state = next[choice % next.length]!;
          if (wasActive) expect(['releasing', 'released', 'release_failed']).toContain(state);
          wasActive ||= state === 'active';
        }
      }),
    );
  });

  it('refuse what is not in the table', () => {
    expect(canTransition('released', 'active')).toBe(false);
    expect(canTransition('active', 'released')).toBe(false);
    expect(canTransition('provisioning', 'active')).toBe(true);
  });

  it('say where a release may be asked for', () => {
    expect([...releasable].filter((state) => transitions[state].length === 0)).toEqual([]);
  });
});
