import { expect, test } from 'vitest';
import type { Node } from '../../api/types.ts';
import { freeByHost, fragmentedShare, utilisationByRegion } from './region-utilisation.ts';

function host(region: string, available: number, change: Partial<Node> = {}): Node {
  return {
    region,
    slot_counts: {
      disabled: 0,
      available,
      reserved: 1,
      in_use: 7 - available,
      cleaning: 0,
      cleanup_blocked: 0,
    },
    draining: false,
    cordons: [],
    connection: 'connected',
    ...change,
  } as Node;
}

test('slots are counted by commercial state, region by region', () => {
  const [east, west] = utilisationByRegion([
    host('west', 4),
    host('east', 2),
    host('east', 3, { draining: true }),
  ]);
  expect(east).toMatchObject({ region: 'east', hosts: 2, sold: 11, free: 2, held: 3, total: 16 });
  expect(west).toMatchObject({ region: 'west', hosts: 1, sold: 4, free: 4, held: 0, total: 8 });
});

test('scattered GPUs count as fragmented for sizes they cannot serve', () => {
  const nodes = [host('a', 4), host('a', 2), host('a', 2)];
  expect(fragmentedShare(nodes, 1)).toBe(0);
  expect(fragmentedShare(nodes, 4)).toBe(0.5);
  expect(fragmentedShare(nodes, 8)).toBe(1);
  expect(fragmentedShare([host('a', 0)], 1)).toBeNull();
  expect(freeByHost(nodes)).toEqual([0, 0, 2, 0, 1, 0, 0, 0, 0]);
});
