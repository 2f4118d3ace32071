import { expect, test } from 'vitest';
import { RETRY_SECONDS, retryDelay } from './retry-schedule.ts';

const MAX = RETRY_SECONDS.length + 1;

test('attempts grow apart over about three days and then end', () => {
  const delays = RETRY_SECONDS.map((_, index) => retryDelay(index + 1, MAX, () => 0.5)!);
  expect(delays).toEqual([...RETRY_SECONDS]);
  expect(delays.every((delay, index) => index === 0 || delay > delays[index - 1]!)).toBe(true);
  const days = delays.reduce((sum, delay) => sum + delay) / 86_400;
  expect(days).toBeGreaterThan(3);
  expect(days).toBeLessThan(4);
  expect(retryDelay(MAX, MAX)).toBeNull();
});

test('jitter stays within a tenth', () => {
  expect(retryDelay(1, MAX, () => 0)).toBeCloseTo(4.5);
  expect(retryDelay(1, MAX, () => 1)).toBeCloseTo(5.5);
});
