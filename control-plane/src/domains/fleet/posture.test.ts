import { describe, expect, it } from 'vitest';
import { emptyCounts, postureOf, type PostureInput, type SlotCounts } from './posture.ts';

function node(slots: Partial<SlotCounts>, change: Partial<PostureInput> = {}): PostureInput {
  return {
    connected: true,
    draining: false,
    exclusivelyClaimed: false,
    slots: { ...emptyCounts(), ...slots },
    ...change,
  };
}

describe('posture', () => {
  it.each<[string, PostureInput]>([
    ['fully_available', node({ available: 8 })],
    ['partially_allocated', node({ available: 6, in_use: 2 })],
    ['partially_allocated', node({ available: 7, cleanup_blocked: 1 })],
    ['fully_allocated_by_slices', node({ in_use: 6, reserved: 2 })],
    ['exclusively_allocated_by_baremetal', node({ available: 8 }, { exclusivelyClaimed: true })],
    ['draining', node({ available: 4, in_use: 4 }, { draining: true })],
    ['cleanup_blocked', node({ cleanup_blocked: 8 })],
    ['unavailable', node({ available: 8 }, { connected: false })],
    ['unavailable', node({})],
  ])('is %s', (posture, input) => {
    expect(postureOf(input).posture).toBe(posture);
  });

  it('lets the graver condition win', () => {
    const worst = node(
      { cleanup_blocked: 8 },
      { connected: false, draining: true, exclusivelyClaimed: true },
    );
    expect(postureOf(worst).posture).toBe('unavailable');
    expect(postureOf({ ...worst, connected: true }).posture).toBe('cleanup_blocked');
    expect(postureOf(node({ in_use: 8 }, { draining: true, exclusivelyClaimed: true })).posture).toBe(
      'draining',
    );
  });
});
