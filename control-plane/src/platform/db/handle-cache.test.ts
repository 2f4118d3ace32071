import { expect, test } from 'vitest';
import type { Db } from './database.ts';
import { HandleCache } from './handle-cache.ts';

const handle = {} as Db;

test('keeps handles, and never more than two million characters of openings', () => {
  const cache = new HandleCache();
  cache.add('begin', handle);
  expect(cache.get('begin')).toBe(handle);
  for (let count = 0; count < 2000; count += 1) {
    cache.add(`${count} ${'x'.repeat(8000)}`, handle);
    expect(cache.characters).toBeLessThanOrEqual(2 * 1024 * 1024);
  }
});

test('does not keep the opening of a caller in thousands of tenants', () => {
  const cache = new HandleCache();
  const opening = 'x'.repeat(37 * 2000);
  cache.add(opening, handle);
  expect(cache.get(opening)).toBeUndefined();
  expect(cache.characters).toBe(0);
});
