import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimiter } from './rate-limits.ts';

describe('rate limits', () => {
  it('never allow more than the burst and the tokens refilled since', () => {
    const limits = fc.record({
      burst: fc.integer({ min: 1, max: 50 }),
      perSecond: fc.integer({ min: 1, max: 50 }),
    });
    fc.assert(
      fc.property(limits, fc.array(fc.nat(400), { maxLength: 200 }), (limit, gaps) => {
        let now = 0;
        const limiter = new RateLimiter(
          'test',
          () => limit,
          () => now,
        );
        let admitted = 0;
        for (const gap of gaps) {
          now += gap;
          if (limiter.take('a').retryAfterSeconds === null) admitted += 1;
        }
        expect(admitted).toBeLessThanOrEqual(limit.burst + (now / 1000) * limit.perSecond + 1e-6);
        if (gaps.length <= limit.burst) expect(admitted).toBe(gaps.length);
      }),
    );
  });

  it('admit a refused caller after the announced time', () => {
    let now = 0;
    const limiter = new RateLimiter(
      'test',
      () => ({ burst: 2, perSecond: 0.3 }),
      () => now,
    );
    expect([limiter.take('a'), limiter.take('a')].map(({ remaining }) => remaining)).toEqual([1, 0]);
    const { retryAfterSeconds } = limiter.take('a');
    now += retryAfterSeconds! * 1000;
    expect(limiter.take('a').retryAfterSeconds).toBeNull();
    expect(limiter.take('b').retryAfterSeconds).toBeNull();
  });

  it('drop the oldest callers instead of growing', () => {
    const limiter = new RateLimiter(
      'test',
      () => ({ burst: 1, perSecond: 0.001 }),
      () => 0,
    );
    limiter.take('first');
    expect(limiter.take('first').retryAfterSeconds).not.toBeNull();
    for (let count = 0; count < 20_000; count += 1) limiter.take(String(count));
    expect(limiter.take('first').retryAfterSeconds).toBeNull();
  });
});
