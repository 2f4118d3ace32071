import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptySlotCounts, postureOf, type Posture, type PostureInput, type SlotCounts } from './posture.ts';

function node(slots: Partial<SlotCounts>, change: Partial<PostureInput> = {}): PostureInput {
  return {
    mode: 'slice',
    connected: true,
    draining: false,
    cordons: [],
    exclusivelyClaimed: false,
    hostCleanupBlocked: false,
    slots: { ...emptySlotCounts(), ...slots },
    unhealthyAvailable: 0,
    ...change,
  };
}

/** The posture table of the source material, each row with every way into it. */
const table: Record<Posture, Record<string, PostureInput>> = {
  fully_available: {
    'no blocking claims, schedulable': node({ available: 8 }),
    'some slots were never approved for sale': node({ available: 6, disabled: 2 }),
    'a baremetal host with an approved offer': node({ available: 8 }, { mode: 'baremetal' }),
  },
  partially_allocated: {
    'some slots are in use': node({ available: 6, in_use: 2 }),
    'some slots are reserved': node({ available: 6, reserved: 2 }),
    'a slot is being wiped': node({ available: 7, cleaning: 1 }),
    'a slot is quarantined, others can be sold': node({ available: 7, cleanup_blocked: 1 }),
  },
  fully_allocated_by_slices: {
    'every slot is claimed': node({ in_use: 6, reserved: 2 }),
    'the rest is quarantined': node({ in_use: 7, cleanup_blocked: 1 }),
    'the rest is not approved': node({ in_use: 4, disabled: 4 }),
    'the rest is unhealthy': node({ in_use: 4, available: 4 }, { unhealthyAvailable: 4 }),
  },
  exclusively_allocated_by_baremetal: {
    'a whole-node claim blocks all slots': node({ available: 8 }, { exclusivelyClaimed: true }),
    'on a baremetal host': node({}, { mode: 'baremetal', exclusivelyClaimed: true }),
  },
  draining: {
    'allocations continue': node({ available: 4, in_use: 4 }, { draining: true }),
    'nothing runs': node({ available: 8 }, { draining: true }),
  },
  cleanup_blocked: {
    'every slot is quarantined': node({ cleanup_blocked: 8 }),
    'every approved slot is quarantined': node({ cleanup_blocked: 2, disabled: 6 }),
    'the host itself is quarantined': node({}, { mode: 'baremetal', hostCleanupBlocked: true }),
  },
  unavailable: {
    'the host is silent': node({ available: 8 }, { connected: false }),
    'no slot is approved': node({}),
    'no whole-node offer is approved': node({ disabled: 8 }, { mode: 'baremetal' }),
    'a GPU of a whole node is unhealthy': node(
      { available: 8 },
      { mode: 'baremetal', unhealthyAvailable: 1 },
    ),
    'every slot is disabled': node({ disabled: 8 }),
    'it is cordoned': node({ available: 8 }, { cordons: ['Two GPUs are missing.'] }),
    'every free slot is unhealthy': node({ available: 8 }, { unhealthyAvailable: 8 }),
  },
};

describe.each(Object.entries(table))('%s', (posture, rows) => {
  it.each(Object.entries(rows))('%s', (_row, input) => {
    expect(postureOf(input).posture).toBe(posture);
  });
});

describe('precedence', () => {
  it('lets the graver condition win, one after the other', () => {
    const everything = node(
      { cleanup_blocked: 2, in_use: 1, available: 1 },
      {
        connected: false,
        cordons: ['Under maintenance.'],
        hostCleanupBlocked: true,
        draining: true,
        exclusivelyClaimed: true,
      },
    );
    const steps: [Posture, Partial<PostureInput>][] = [
      ['unavailable', {}],
      ['unavailable', { connected: true }],
      ['cleanup_blocked', { cordons: [] }],
      ['draining', { hostCleanupBlocked: false }],
      ['exclusively_allocated_by_baremetal', { draining: false }],
      ['partially_allocated', { exclusivelyClaimed: false }],
    ];
    let input = everything;
    for (const [posture, better] of steps) {
      input = { ...input, ...better };
      expect(postureOf(input).posture).toBe(posture);
    }
  });

  it('names a reason, and the cordon when that is it', () => {
    const cordoned = node({ available: 8 }, { cordons: ['Two GPUs are missing.', 'Old agent.'] });
    expect(postureOf(cordoned).reason).toBe('Two GPUs are missing.');
  });

  it('counts the slots, so that a quarantined one is seen beside those that are sold', () => {
    const one = node({ available: 4, in_use: 3, cleanup_blocked: 1, disabled: 2 });
    expect(postureOf(one)).toEqual({
      posture: 'partially_allocated',
      reason:
        'Some slots are free: 4 of 8 available, 3 of 8 in use, 1 of 8 quarantined until the cleanup is verified.',
    });
    const none = node({ in_use: 7, cleanup_blocked: 1 });
    expect(postureOf(none).reason).toBe(
      'No slot is free: 7 of 8 in use, 1 of 8 quarantined until the cleanup is verified.',
    );
  });

  it('never calls a host sellable that has nothing to sell', () => {
    const counts = fc.record({
      disabled: fc.nat(8),
      available: fc.nat(8),
      reserved: fc.nat(8),
      in_use: fc.nat(8),
      cleaning: fc.nat(8),
      cleanup_blocked: fc.nat(8),
    });
    const anyNode = fc.record({
      mode: fc.constant('slice' as const),
      connected: fc.boolean(),
      draining: fc.boolean(),
      cordons: fc.constantFrom([], ['x']),
      exclusivelyClaimed: fc.boolean(),
      hostCleanupBlocked: fc.boolean(),
      slots: counts,
      unhealthyAvailable: fc.nat(8),
    });
    fc.assert(
      fc.property(anyNode, (input) => {
        fc.pre(input.unhealthyAvailable <= input.slots.available);
        const { posture } = postureOf(input);
        if (posture !== 'fully_available' && posture !== 'partially_allocated') return;
        expect(input.connected && !input.draining && !input.exclusivelyClaimed).toBe(true);
        expect(input.cordons).toEqual([]);
        expect(input.slots.available).toBeGreaterThan(input.unhealthyAvailable);
      }),
    );
  });
});
