import { describe, expect, it } from 'vitest';
import type { Candidate, PlacementRequest } from '../candidate.ts';
import { compare } from '../best-node.ts';
import { node, request } from '../testing/nodes.ts';
import { scores } from './scores.ts';

interface Case {
  better: Candidate;
  worse: Candidate;
  for?: Partial<PlacementRequest>;
}

const leased = (...slots: number[]) => ({ leases: [{ slots }] });
const until = (endsAt: number, ...slots: number[]) => ({ leases: [{ slots, endsAt }] });

/** Pairs that this score decides. The ids favour the worse one, so that a tie fails. */
const cases: Record<string, Case[]> = {
  own_promise: [
    {
      better: node('z', {}, { promises: [{ holder: 'mine', from: 0, until: 10 }] }),
      worse: node('a', leased(0, 1, 2, 3)),
      for: { holders: ['mine'] },
    },
    {
      better: node('z', {}, { promises: [{ holder: 'mine', from: 0, until: 10 }] }),
      worse: node('a', {}, { promises: [{ holder: 'mine', from: 5, until: 10 }] }),
      for: { holders: ['mine'] },
    },
  ],
  time_opened: [
    { better: node('z', until(9, 0, 1)), worse: node('a', until(5, 0, 1)), for: { endsAt: 9 } },
    // A lease that outlasts the request beats the fuller node and the clean one.
    { better: node('z', until(20, 0)), worse: node('a', until(5, 0, 1, 2, 3, 4, 5)), for: { endsAt: 9 } },
    { better: node('z', until(8, 0)), worse: node('a'), for: { endsAt: 9 } },
    { better: node('z', { size: 4 }), worse: node('a'), for: { endsAt: 9 } },
    // An end long past counts like a clean node.
    { better: node('z', { size: 4 }), worse: node('a', until(-50, 0)), for: { endsAt: 9 } },
  ],
  smallest_leftover: [
    { better: node('z', leased(0, 1, 2, 3, 4)), worse: node('a') },
    { better: node('z', { size: 2 }), worse: node('a', leased(0)) },
    // One GPU of packing is not worth a crossing and more of it is.
    { better: node('z', leased(0, 1, 4, 5, 6, 7)), worse: node('a', leased(0, 1, 2, 4, 5)) },
    { better: node('z', leased(0, 1, 2, 4, 5, 6)), worse: node('a', leased(0, 1, 4)) },
  ],
  smallest_node: [{ better: node('z', { size: 4 }), worse: node('a', leased(0, 1, 2, 3)) }],
  ends_together: [
    { better: node('z', until(10, 0)), worse: node('a', until(11, 0)), for: { endsAt: 9 } },
    { better: node('z', leased(0)), worse: node('a', until(99, 0)) },
    { better: node('z', until(99, 0)), worse: node('a', until(98, 0)) },
  ],
  most_leases: [
    { better: node('z', { leases: [{ slots: [0] }, { slots: [1] }] }), worse: node('a', leased(0, 1)) },
  ],
  numa_aligned: [
    { better: node('z', leased(0, 1, 2, 4)), worse: node('a', leased(0, 1, 2, 4, 5)), for: { gpus: 3 } },
  ],
  tightest_numa: [
    { better: node('z', leased(0, 1, 2)), worse: node('a', leased(0, 1, 4)), for: { gpus: 1 } },
  ],
};

describe.each(scores)('score $name', (score) => {
  it.each(cases[score.name] ?? [])('decides (%#)', (example) => {
    const asked = request(example.for);
    const deciding = scores.find((one) => one.of(asked, example.better) !== one.of(asked, example.worse));
    expect(deciding?.name).toBe(score.name);
    expect(compare(asked, example.better, example.worse)).toBeLessThan(0);
    expect(compare(asked, example.worse, example.better)).toBeGreaterThan(0);
  });
});

it('every score has a case and a unique reason', () => {
  expect(Object.keys(cases).toSorted()).toEqual(scores.map(({ name }) => name).toSorted());
  expect(new Set(scores.map(({ reason }) => reason)).size).toBe(scores.length);
});

it('the id breaks a tie, so that the order is total', () => {
  expect(compare(request(), node('a'), node('b'))).toBeLessThan(0);
  expect(compare(request(), node('b'), node('b'))).toBe(0);
});
