import fc from 'fast-check';
import { OPEN_ENDED, type Candidate, type NodeHold, type PlacementRequest } from '../candidate.ts';
import { node, request } from './nodes.ts';

const anyEnd = fc.oneof(fc.constant(OPEN_ENDED), fc.integer({ min: 1, max: 20 }));

/** Mostly able to serve: rare faults are where the interesting refusals are. */
const mostly = (usual: boolean) =>
  fc.oneof({ arbitrary: fc.constant(usual), weight: 6 }, { arbitrary: fc.constant(!usual), weight: 1 });

/** Independent faults, so that one slot may have several, leased or not. */
const anySlotFaults = fc
  .record({ healthy: mostly(true), configured: mostly(true), enabled: mostly(true) })
  .map(({ healthy, configured, enabled }) => ({
    ...(healthy ? {} : { healthState: 'unhealthy' }),
    ...(configured ? {} : { nvmeSerial: '' }),
    ...(enabled ? {} : { state: 'disabled' }),
  }));

const anyPromise: fc.Arbitrary<NodeHold> = fc
  .record({
    holder: fc.constantFrom('mine', 'theirs'),
    from: fc.integer({ min: -5, max: 20 }),
    lasts: fc.oneof(fc.constant(OPEN_ENDED), fc.integer({ min: 1, max: 15 })),
  })
  .map(({ lasts, ...promise }) => ({ ...promise, until: promise.from + lasts }));

const anyPromises = fc.oneof(
  { arbitrary: fc.constant([]), weight: 3 },
  { arbitrary: fc.array(anyPromise, { minLength: 1, maxLength: 2 }), weight: 1 },
);

const anyNode: fc.Arbitrary<Candidate> = fc
  .record({
    id: fc.integer({ min: 0, max: 30 }),
    size: fc.constantFrom(2, 4, 8),
    holders: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 8, maxLength: 8 }),
    ends: fc.array(anyEnd, { minLength: 5, maxLength: 5 }),
    faults: fc.array(anySlotFaults, { minLength: 8, maxLength: 8 }),
    region: fc.constantFrom('me-1', 'me-1', 'me-1', 'eu-1'),
    serves: fc.constantFrom(['gpu_slice', 'baremetal'] as const, ['gpu_slice'] as const),
    connected: mostly(true),
    draining: mostly(false),
    cordoned: mostly(false),
    promises: anyPromises,
  })
  .map(({ id, size, holders, ends, faults, ...facts }) => {
    // Holder 0 means free.
    const leases = [1, 2, 3, 4]
      .map((holder) => ({
        slots: holders.slice(0, size).flatMap((one, index) => (one === holder ? [index] : [])),
        endsAt: ends[holder]!,
      }))
      .filter(({ slots }) => slots.length > 0);
    const slots = Object.fromEntries(faults.slice(0, size).entries());
    return node(`n${id}`, { size, leases, slots }, facts);
  });

export const anyFleet = fc.uniqueArray(anyNode, { selector: ({ nodeId }) => nodeId, maxLength: 12 });

export const anyRequest: fc.Arbitrary<PlacementRequest> = fc
  .record({
    shape: fc.constantFrom('gpu_slice' as const, 'gpu_slice' as const, 'baremetal' as const),
    gpus: fc.integer({ min: 1, max: 8 }),
    endsAt: anyEnd,
    holders: fc.constantFrom([], ['mine']),
  })
  .map(request);
