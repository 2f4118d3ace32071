import { expect, test } from 'vitest';
import type { Node } from '../../api/types.ts';
import { filterFleet, groupFleet } from './group-fleet.ts';

function node(hostname: string, region: string, rack: string, available: number): Node {
  return {
    id: hostname,
    resource_name: `r:${hostname}`,
    hostname,
    region,
    rack,
    pool: 'default',
    node_family: 'h200',
    mode: 'slice',
    profile_tags: [],
    posture: available === 8 ? 'fully_available' : 'partially_allocated',
    posture_reason: '',
    slot_counts: {
      disabled: 0,
      available,
      reserved: 0,
      in_use: 8 - available,
      cleaning: 0,
      cleanup_blocked: 0,
    },
    draining: false,
    drain_reason: null,
    cordons: [],
    states: { desired: 'in_service', observed: 'healthy', execution: 'idle', projected: null },
    connection: 'connected',
    agent_version: null,
    boot_id: null,
    enrolled_at: '2026-01-01T00:00:00Z',
    last_heartbeat_at: null,
    clock_offset_ms: null,
  };
}

const FLEET = [node('h10', 'b', 'r2', 8), node('h9', 'b', 'r2', 3), node('h1', 'a', 'r1', 8)];

test('hosts are grouped by rack and region, in natural order', () => {
  const regions = groupFleet(FLEET);
  expect(regions.map(({ region, nodes, slots, free }) => [region, nodes, slots, free])).toEqual([
    ['a', 1, 8, 8],
    ['b', 2, 16, 11],
  ]);
  expect(regions[1]?.racks[0]?.nodes.map(({ hostname }) => hostname)).toEqual(['h9', 'h10']);
});

test('a filter keeps hosts that match all of it', () => {
  expect(filterFleet(FLEET, { region: 'b', posture: 'fully_available' }).map(({ id }) => id)).toEqual([
    'h10',
  ]);
  expect(filterFleet(FLEET, { find: 'R1' }).map(({ id }) => id)).toEqual(['h1']);
  expect(filterFleet(FLEET, {})).toHaveLength(3);
});
