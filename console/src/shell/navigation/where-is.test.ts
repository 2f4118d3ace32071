import { expect, test } from 'vitest';
import { AREAS } from './areas.ts';
import { whereIs } from './where-is.ts';

const titles = (path: string): string[] | null => {
  const here = whereIs(AREAS, path);
  return here && [here.area.title, here.group.title ?? '', here.place.label];
};

test('a page belongs to its area, and a detail page to its list', () => {
  expect(titles('/allocations')).toEqual(['Project', 'Compute', 'Allocations']);
  expect(titles('/allocations/01a1')).toEqual(['Project', 'Compute', 'Allocations']);
  expect(titles('/operator/allocations/01a1')).toEqual(['Platform', 'Customers', 'All allocations']);
  expect(titles('/organization/webhooks')).toEqual(['Project', 'Settings', 'Webhooks']);
  expect(titles('/ssh-keys')).toBeNull();
});

test('a page is listed once', () => {
  const all = AREAS.flatMap(({ groups }) => groups.flatMap(({ places }) => places.map(({ to }) => to)));
  expect(new Set(all).size).toBe(all.length);
});
