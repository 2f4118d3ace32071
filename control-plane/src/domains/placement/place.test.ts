import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { candidate, OPEN_ENDED, type Candidate, type NodeHold, type PlacementRequest } from './candidate.ts';
import { filters } from './filters/filters.ts';
import { place } from './place.ts';
import { PlacementIndex } from './placement-index.ts';
import { firstRejection } from './best-node.ts';
import { countSlots, toIndexes } from './slot-mask.ts';
import { anyFleet, anyRequest } from './testing/any-fleet.ts';
import { node, request } from './testing/nodes.ts';

const COUNTS = [1, 2, 3, 4, 5, 6, 7, 8];

function indexed(nodes: readonly Candidate[]): PlacementIndex {
  const index = new PlacementIndex();
  for (const one of nodes) index.set(one);
  return index;
}

describe('place', () => {
  it('packs the partly used node and keeps the clean one clean', () => {
    const used = node('used', { leases: [{ slots: [0, 1, 2, 3, 4] }] });
    const placement = place(request(), [node('clean'), used], COUNTS);
    expect(placement).toMatchObject({ fits: true, node: { nodeId: 'used' } });
    expect(placement.fits && toIndexes(placement.slots)).toEqual([6, 7]);
  });

  it('gives a whole clean node for baremetal', () => {
    const used = node('a', { leases: [{ slots: [0] }] });
    const placement = place(request({ shape: 'baremetal', gpus: 8 }), [used, node('b')], COUNTS);
    expect(placement).toMatchObject({ fits: true, node: { nodeId: 'b' }, slots: 255 });
  });

  it('never spans nodes, and says why, what would fit and when', () => {
    const nodes = [
      node('a', { leases: [{ slots: [0, 1, 2], endsAt: 60 }, { slots: [3, 4, 5, 6] }] }),
      node('b', { leases: [{ slots: [0, 1, 2, 3, 4, 5], endsAt: 90 }] }),
      node('c', {}, { draining: true }),
      node('d', {}, { draining: true, connected: false }),
    ];
    expect(place(request({ gpus: 4, now: 10 }), nodes, COUNTS)).toEqual({
      fits: false,
      rejections: [
        { filter: 'connected', reason: 'not reachable at the moment', nodes: 1, nodesOtherwiseFitting: 0 },
        { filter: 'not_draining', reason: 'being drained', nodes: 1, nodesOtherwiseFitting: 1 },
        {
          filter: 'enough_free_slots',
          reason: 'with too few free slots',
          nodes: 2,
          nodesOtherwiseFitting: 2,
        },
      ],
      nearest: { shape: 'gpu_slice', gpus: 2 },
      expectedAt: 60,
    });
  });

  it('knows no time when no end is known', () => {
    const full = node('a', { leases: [{ slots: [0, 1, 2, 3, 4, 5, 6, 7] }] });
    expect(place(request(), [full], COUNTS)).toMatchObject({ expectedAt: null, nearest: null });
  });

  it('returns the requested slots of one node if any can serve, in any order of nodes', () => {
    fc.assert(
      fc.property(anyFleet, anyRequest, (nodes, asked) => {
        const placement = place(asked, nodes, COUNTS);
        expect(place(asked, nodes.toReversed(), COUNTS)).toEqual(placement);
        const able = nodes.filter((one) => filters.every((filter) => filter.keeps(asked, one)));
        expect(placement.fits).toBe(able.length > 0);
        if (!placement.fits) return;
        expect(able).toContain(placement.node);
        expect(placement.slots & ~placement.node.free).toBe(0);
        expect(countSlots(placement.slots)).toBe(asked.gpus);
        if (asked.shape === 'baremetal') expect(placement.node.leases).toEqual([]);
      }),
    );
  });

  it('answers the same from the index as from all nodes', () => {
    fc.assert(
      fc.property(anyFleet, fc.array(anyRequest, { minLength: 1, maxLength: 8 }), (nodes, requests) => {
        const index = indexed(nodes);
        for (const asked of requests)
          expect(place(asked, index, COUNTS)).toEqual(place(asked, nodes, COUNTS));
      }),
      { numRuns: 500 },
    );
  });

  it('keeps the index right while nodes change and go', () => {
    fc.assert(
      fc.property(anyFleet, anyFleet, anyRequest, (before, after, asked) => {
        const index = indexed(before);
        for (const one of after) index.set(one);
        const last = after.at(-1);
        if (last) index.remove(last.nodeId);
        const known = new Map([...before, ...after].map((one) => [one.nodeId, one]));
        if (last) known.delete(last.nodeId);
        expect(index.size).toBe(known.size);
        expect(place(asked, index, COUNTS)).toEqual(place(asked, [...known.values()], COUNTS));
      }),
    );
  });
});

describe('a refusal', () => {
  it('counts every node once, under the first filter against it', () => {
    fc.assert(
      fc.property(anyFleet, anyRequest, (nodes, asked) => {
        const placement = place(asked, nodes, COUNTS);
        if (placement.fits) return;
        const counted = placement.rejections.reduce((sum, rejection) => sum + rejection.nodes, 0);
        expect(counted).toBe(nodes.length);
      }),
    );
  });

  it('is true: the nearest shape fits, and at the expected time the request does', () => {
    fc.assert(
      fc.property(anyFleet, anyRequest, (nodes, asked) => {
        const placement = place(asked, nodes, COUNTS);
        if (placement.fits) return;
        if (placement.nearest) {
          expect(placement.nearest.shape).toBe(asked.shape);
          expect(placement.nearest.gpus).toBeLessThan(asked.gpus);
          expect(place({ ...asked, ...placement.nearest }, nodes, COUNTS).fits).toBe(true);
        }
        const { expectedAt } = placement;
        if (expectedAt === null) return;
        expect(fitsAt(expectedAt, asked, nodes)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('names the earliest time: at no known end before it the request fits', () => {
    fc.assert(
      fc.property(anyFleet, anyRequest, (nodes, asked) => {
        const placement = place(asked, nodes, COUNTS);
        if (placement.fits) return;
        const ends = nodes.flatMap(({ leases, promises = [] }) => [
          ...leases.map(({ endsAt }) => endsAt),
          ...promises.map(({ until }) => until),
        ]);
        const first = ends
          .filter((at) => Number.isFinite(at) && at >= asked.now)
          .toSorted((a, b) => a - b)
          .find((at) => fitsAt(at, asked, nodes));
        expect(placement.expectedAt).toBe(first ?? null);
      }),
      { numRuns: 1000 },
    );
  });

  it('of a whole node offers no slice of a free one that is set up for slices', () => {
    const free = node('a', {}, { serves: ['gpu_slice'] });
    expect(place(request({ shape: 'baremetal', gpus: 8 }), [free], [8])).toMatchObject({
      fits: false,
      nearest: null,
    });
  });

  it('expects nothing of a leased slot that is unhealthy or not configured', () => {
    const faulty = (fault: object) =>
      node('a', { leases: [{ slots: [0, 1, 2, 3, 4, 5, 6], endsAt: 60 }], slots: { 3: fault } });
    const whole = request({ shape: 'baremetal', gpus: 8 });
    expect(place(whole, [faulty({})], COUNTS)).toMatchObject({ expectedAt: 60 });
    for (const fault of [{ healthState: 'unhealthy' }, { nvmeSerial: '' }]) {
      expect(place(whole, [faulty(fault)], COUNTS)).toMatchObject({ expectedAt: null });
    }
  });

  it('expects no lease that would run into a promise', () => {
    const full = (promises: NodeHold[]) =>
      node('a', { leases: [{ slots: [0, 1, 2, 3, 4, 5, 6, 7], endsAt: 60 }] }, { promises });
    const theirs = (from: number, until: number) => [{ holder: 'theirs', from, until }];
    const short = request({ endsAt: 30 });
    expect(place(short, [full(theirs(90, 100))], COUNTS)).toMatchObject({ expectedAt: 60 });
    expect(place(short, [full(theirs(80, 100))], COUNTS)).toMatchObject({ expectedAt: 100 });
    expect(place(short, [full(theirs(80, OPEN_ENDED))], COUNTS)).toMatchObject({ expectedAt: null });
    expect(place(short, [full(theirs(10, 50))], COUNTS)).toMatchObject({ expectedAt: 60 });
  });
});

/** Whether a lease of the same length that starts then would fit. */
function fitsAt(at: number, asked: PlacementRequest, nodes: readonly Candidate[]): boolean {
  const later = { ...asked, now: at, endsAt: at + asked.endsAt - asked.now };
  return place(
    later,
    nodes.map((one) => leaseEndsSeen(one, at)),
    COUNTS,
  ).fits;
}

/** The node after all leases that end by then. */
function leaseEndsSeen(one: Candidate, by: number): Candidate {
  const leases = one.leases.filter(({ endsAt }) => endsAt > by);
  const freed = one.leases.filter(({ endsAt }) => endsAt <= by).reduce((mask, { slots }) => mask | slots, 0);
  return candidate(one, one.layout, leases, { ...one, available: one.available | freed });
}

/** Removes each obstacle, and nothing else. */
const repairs: Record<string, (one: Candidate) => Candidate> = {
  region: (one) => ({ ...one, region: 'me-1' }),
  gpu_model: (one) => ({ ...one, gpuModel: 'H200' }),
  node_mode: (one) => ({ ...one, serves: ['gpu_slice', 'baremetal'] }),
  connected: (one) => ({ ...one, connected: true }),
  not_draining: (one) => ({ ...one, draining: false }),
  not_cordoned: (one) => ({ ...one, cordoned: false }),
  not_promised: (one) => ({ ...one, promises: [] }),
  enough_free_slots: (one) => candidate(one, one.layout, [], { ...one, available: one.layout.all }),
  complete_slots: (one) => candidate(one, one.layout, one.leases, { ...one, configured: one.layout.all }),
  healthy_slots: (one) => candidate(one, one.layout, one.leases, { ...one, healthy: one.layout.all }),
};

describe('a reason that is the only one', () => {
  const whole = request({ shape: 'baremetal', gpus: 8 });
  const both = { healthState: 'unhealthy', nvmeSerial: '' };

  it.each([
    ['a free slot with two faults', node('a', { slots: { 3: both } }), 'complete_slots'],
    [
      'a leased slot that is unhealthy',
      node('a', { leases: [{ slots: [3] }], slots: { 3: { healthState: 'unhealthy' } } }),
      'enough_free_slots',
    ],
    [
      'a disabled slot that is incomplete',
      node('a', { slots: { 3: { state: 'disabled', nvmeSerial: '' } } }),
      'enough_free_slots',
    ],
    [
      'a leased slot beside an incomplete one',
      node('a', { leases: [{ slots: [3] }], slots: { 4: { nvmeSerial: '' } } }),
      'enough_free_slots',
    ],
  ])('is not said of %s', (_what, one, filter) => {
    expect(place(whole, [one], COUNTS)).toMatchObject({
      rejections: [{ filter, nodes: 1, nodesOtherwiseFitting: 0 }],
    });
  });

  it('is said of too few free slots beside a faulty one that is not needed', () => {
    const one = node('a', { leases: [{ slots: [1, 2, 3, 4, 5, 6, 7] }], slots: { 0: both } });
    expect(place(request(), [one], COUNTS)).toMatchObject({
      rejections: [{ filter: 'enough_free_slots', nodesOtherwiseFitting: 1 }],
    });
  });

  it('lets the request through once it is removed', () => {
    fc.assert(
      fc.property(anyFleet, anyRequest, (nodes, asked) => {
        const placement = place(asked, nodes, COUNTS);
        if (placement.fits) return;
        for (const { filter, nodesOtherwiseFitting } of placement.rejections) {
          const repair = repairs[filter];
          // The size of a node cannot be repaired.
          if (!repair) expect(filter).toBe('node_size');
          if (!repair) continue;
          const freed = nodes.map(repair).filter((one) => place(asked, [one], COUNTS).fits);
          if (nodesOtherwiseFitting > 0) expect(place(asked, nodes.map(repair), COUNTS).fits).toBe(true);
          // Of the nodes that count under it as their first, no more and no fewer would do.
          const first = nodes.filter((one) => firstRejection(asked, one)?.name === filter);
          const doing = first.filter(({ nodeId }) => freed.some((one) => one.nodeId === nodeId));
          expect(nodesOtherwiseFitting).toBe(doing.length);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
