import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ExpiringSet } from './expiring-set.ts';

it('remembers for its time, and not more than it can hold', async () => {
  const brief = new ExpiringSet(1);
  brief.add('a');
  await sleep(20);
  expect(brief.has('a')).toBe(false);
  const long = new ExpiringSet(60_000);
  expect(long.has('b')).toBe(false);
  long.add('b');
  expect(long.has('b')).toBe(true);
  for (let other = 0; other < 10_000; other += 1) long.add(String(other));
  expect(long.has('b')).toBe(false);
  expect(long.has('9999')).toBe(true);
});
