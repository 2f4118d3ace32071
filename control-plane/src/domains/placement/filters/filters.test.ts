import { describe, expect, it } from 'vitest';
import type { Candidate, PlacementRequest } from '../candidate.ts';
import { node, request } from '../testing/nodes.ts';
import { filters } from './filters.ts';

interface Case {
  rejects: Candidate;
  keeps: Candidate;
  for?: Partial<PlacementRequest>;
}

const pair = { leases: [{ slots: [0, 1, 2, 3, 4, 5] }] };
const single = { leases: [{ slots: [0, 1, 2, 3, 4, 5, 6] }] };
const promise = { holder: 'theirs', from: 100, until: 200 };
const oneOfTwo = (change: object) => ({ ...pair, slots: { 6: change } });

/** Two nodes that differ only in the property that the filter checks. */
const cases: Record<string, Case[]> = {
  region: [{ rejects: node('a', {}, { region: 'eu-1' }), keeps: node('a') }],
  gpu_model: [
    { rejects: node('a', {}, { gpuModel: 'H100' }), keeps: node('a') },
    {
      rejects: node('a', {}, { gpuModel: 'H100' }),
      keeps: node('a', {}, { gpuModel: 'B300' }),
      for: { gpuModel: 'B300' },
    },
  ],
  node_mode: [
    { rejects: node('a', {}, { serves: ['baremetal'] }), keeps: node('a', {}, { serves: ['gpu_slice'] }) },
    {
      rejects: node('a', {}, { serves: ['gpu_slice'] }),
      keeps: node('a', {}, { serves: ['baremetal'] }),
      for: { shape: 'baremetal', gpus: 8 },
    },
  ],
  node_size: [
    { rejects: node('a', { size: 4 }), keeps: node('a', { size: 6 }), for: { gpus: 6 } },
    { rejects: node('a'), keeps: node('a', { size: 4 }), for: { shape: 'baremetal', gpus: 4 } },
  ],
  connected: [{ rejects: node('a', {}, { connected: false }), keeps: node('a') }],
  not_draining: [{ rejects: node('a', {}, { draining: true }), keeps: node('a') }],
  not_cordoned: [{ rejects: node('a', {}, { cordoned: true }), keeps: node('a') }],
  not_promised: [
    { rejects: node('a', {}, { promises: [promise] }), keeps: node('a') },
    {
      rejects: node('a', {}, { promises: [promise] }),
      keeps: node('a', {}, { promises: [{ ...promise, holder: 'mine' }] }),
      for: { holders: ['mine'] },
    },
    {
      rejects: node('a', {}, { promises: [promise] }),
      keeps: node('a', {}, { promises: [{ ...promise, from: 200 }] }),
      for: { endsAt: 101 },
    },
    {
      rejects: node('a', {}, { promises: [promise] }),
      keeps: node('a', {}, { promises: [{ ...promise, until: 150 }] }),
      for: { now: 150 },
    },
  ],
  enough_free_slots: [
    { rejects: node('a', single), keeps: node('a', pair) },
    {
      rejects: node('a', { leases: [{ slots: [3] }] }),
      keeps: node('a'),
      for: { shape: 'baremetal', gpus: 8 },
    },
  ],
  complete_slots: [
    { rejects: node('a', oneOfTwo({ fabricVfPciAddress: '' })), keeps: node('a', pair) },
    { rejects: node('a', oneOfTwo({ destructiveWipePolicy: null })), keeps: node('a', pair) },
    { rejects: node('a', oneOfTwo({ fabricClaimMode: 'host_shared' })), keeps: node('a', pair) },
    { rejects: node('a', oneOfTwo({ nvmeSerial: ' ' })), keeps: node('a', pair) },
    { rejects: node('a', oneOfTwo({ gpuPciAddress: null })), keeps: node('a', pair) },
    { rejects: node('a', oneOfTwo({ managementMac: '' })), keeps: node('a', pair) },
    { rejects: node('a', oneOfTwo({ privateIp: '' })), keeps: node('a', pair) },
    { rejects: node('a', oneOfTwo({ nvmeDevice: '' })), keeps: node('a', pair) },
  ],
  healthy_slots: [
    {
      rejects: node('a', { slots: { 2: { healthState: 'unhealthy' }, 3: { nvmeSerial: '' } }, size: 4 }),
      keeps: node('a', { slots: { 3: { nvmeSerial: '' } }, size: 4 }),
      for: { gpus: 3 },
    },
    { rejects: node('a', oneOfTwo({ healthState: 'unhealthy' })), keeps: node('a', pair) },
    {
      rejects: node('a', { slots: { 2: { healthState: 'unhealthy' } } }),
      keeps: node('a', { slots: { 2: { healthState: 'unknown' } } }),
      for: { shape: 'baremetal', gpus: 8 },
    },
  ],
};

describe.each(filters)('filter $name', (filter) => {
  it.each(cases[filter.name] ?? [])('rejects by it alone (%#)', (example) => {
    const asked = request(example.for);
    const against = filters.filter((one) => !one.keeps(asked, example.rejects));
    expect(against.map(({ name }) => name)).toEqual([filter.name]);
    expect(filters.every((one) => one.keeps(asked, example.keeps))).toBe(true);
  });
});

it.each([
  ['a free slot', oneOfTwo({ healthState: 'unhealthy', nvmeSerial: '' })],
  [
    'leased slots',
    {
      size: 2,
      leases: [{ slots: [0, 1] }],
      slots: { 0: { healthState: 'unhealthy' }, 1: { nvmeSerial: '' } },
    },
  ],
])('both faults of %s stand against the node', (_what, shape) => {
  const against = filters.filter((one) => !one.keeps(request(), node('a', shape)));
  expect(against.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['complete_slots', 'healthy_slots']),
  );
});

it('every filter has a case and a unique reason', () => {
  expect(Object.keys(cases).toSorted()).toEqual(filters.map(({ name }) => name).toSorted());
  expect(new Set(filters.map(({ reason }) => reason)).size).toBe(filters.length);
});
