import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { deadlineAfter, manualClock, systemClock } from './clock.ts';

describe('clocks', () => {
  it('return the time of the machine', () => {
    const before = Date.now();
    const now = systemClock.now().getTime();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it('advance exactly as set, never back, and returned dates cannot change them', () => {
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

describe('deadlines', () => {
  it('run down to nothing and stay passed', async () => {
    const deadline = deadlineAfter(20);
    expect(deadline.remainingMs()).toBeLessThanOrEqual(20);
    await new Promise((resolve) => setTimeout(resolve, 25));
    expect(deadline.remainingMs()).toBe(0);
    expect(deadline.passed()).toBe(true);
  });

  it('do not follow a clock that is set', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    try {
      const deadline = deadlineAfter(60_000);
      vi.setSystemTime(3_600_000);
      expect(deadline.passed()).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([0, -5])('of %d ms have passed immediately', (ms) => {
    expect(deadlineAfter(ms).passed()).toBe(true);
  });
});
