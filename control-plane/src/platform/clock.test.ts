import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { manualClock, systemClock } from './clock.ts';

describe('clocks', () => {
  it('tell the time of the machine', () => {
    const before = Date.now();
    const told = systemClock.now().getTime();
    expect(told).toBeGreaterThanOrEqual(before);
    expect(told).toBeLessThanOrEqual(Date.now());
  });

  it('move by exactly what they are told, never back, and cannot be changed through what they told', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1e9), { maxLength: 20 }), (steps) => {
        const clock = manualClock(new Date(0));
        for (const step of steps) {
          const before = clock.now();
          clock.advance(step);
          expect(clock.now().getTime() - before.getTime()).toBe(step);
          clock.now().setFullYear(1999);
        }
        expect(clock.now().getTime()).toBe(steps.reduce((sum, step) => sum + step, 0));
        expect(() => clock.advance(-1)).toThrow(RangeError);
      }),
    );
  });
});
