import { describe, expect, it } from 'vitest';
import { Simulator } from './simulator.ts';

const numa = [
  [0, 1, 2, 3],
  [4, 5, 6, 7],
];
const init = { op: 'init', nodes: ['a', 'b'].map((id) => ({ id, gpus: 8, model: 'X', numa })) };

function ask(simulator: Simulator, line: unknown): unknown {
  return JSON.parse(simulator.answer(typeof line === 'string' ? line : JSON.stringify(line)));
}

function started(): Simulator {
  const simulator = new Simulator();
  expect(ask(simulator, init)).toEqual({ ok: true });
  return simulator;
}

const slice = (id: string, gpus: number, more: object = {}) => ({
  op: 'place',
  id,
  t: 0,
  kind: 'gpu_slice',
  gpus,
  ...more,
});

describe('the simulator', () => {
  it('places, refuses with the reason, and places again after a release', () => {
    const simulator = started();
    expect(ask(simulator, slice('one', 2))).toEqual({ node: 'a', slots: [0, 1] });
    const whole = { op: 'place', t: 1, kind: 'baremetal', gpus: 8 };
    expect(ask(simulator, { ...whole, id: 'two' })).toEqual({ node: 'b', slots: [0, 1, 2, 3, 4, 5, 6, 7] });
    expect(ask(simulator, { ...whole, id: 'three' })).toEqual({
      node: null,
      why: {
        reasons: [{ filter: 'enough_free_slots', reason: 'with too few free slots', nodes: 2 }],
        nearest_gpus: null,
        expected_at: null,
      },
    });
    expect(ask(simulator, { op: 'release', id: 'one', t: 2 })).toEqual({ ok: true });
    expect(ask(simulator, { ...whole, id: 'three' })).toMatchObject({ node: 'a' });
  });

  it('offers a smaller whole node for a whole node, and never a slice', () => {
    const simulator = new Simulator();
    const nodes = [
      { id: 'large', gpus: 8 },
      { id: 'small', gpus: 4 },
    ];
    ask(simulator, { op: 'init', nodes });
    ask(simulator, slice('one', 5));
    const whole = { op: 'place', id: 'two', kind: 'baremetal', gpus: 8 };
    expect(ask(simulator, whole)).toMatchObject({ node: null, why: { nearest_gpus: 4 } });
    expect(ask(simulator, { ...whole, gpus: 4 })).toMatchObject({ node: 'small' });
  });

  it('keeps leases that end together on one node when their durations are given', () => {
    const simulator = started();
    ask(simulator, slice('short', 7, { duration: 1 }));
    ask(simulator, slice('long', 6, { duration: 100 }));
    expect(ask(simulator, slice('between', 1, { duration: 50 }))).toMatchObject({ node: 'b' });
    expect(ask(simulator, slice('too large', 8, { t: 0.5 }))).toMatchObject({ why: { expected_at: 1 } });
  });

  it.each([
    ['not JSON', 'x{', /not JSON/],
    ['an empty line', '', /not JSON/],
    ['no object', '[]', /must be an object/],
    ['an unknown op', { op: 'drain' }, /op must be/],
    ['an unknown kind', slice('x', 1, { kind: 'gpu_shared' }), /kind must be/],
    ['no id', { op: 'place', kind: 'gpu_slice', gpus: 1 }, /id must be/],
    ['half a GPU', slice('x', 0.5), /whole number/],
    ['no GPU', slice('x', 0), /whole number/],
    ['a time that is none', slice('x', 1, { t: 'now' }), /t must be/],
    ['no time at all', slice('x', 1, { duration: 0 }), /duration must be/],
    ['an id in use', slice('held', 1), /placed already/],
    ['an unknown lease', { op: 'release', id: 'nobody' }, /not placed/],
    ['nodes that are none', { op: 'init', nodes: 3 }, /nodes must be/],
    ['two nodes of one id', { op: 'init', nodes: [init.nodes[0], init.nodes[0]] }, /one id/],
    ['a slot twice', { op: 'init', nodes: [{ id: 'a', gpus: 2, numa: [[0], [0]] }] }, /each slot/],
    [
      'slots that are no numbers',
      {
        op: 'init',
        nodes: [
          {
            id: 'a',
            gpus: 2,
            numa: [
              [
                { toString: 1, valueOf: 1 },
                { valueOf: 1, toString: 1 },
              ],
            ],
          },
        ],
      },
      /each slot/,
    ],
    ['slots as texts', { op: 'init', nodes: [{ id: 'a', gpus: 2, numa: [['0', '1']] }] }, /each slot/],
    ['a slot too many', { op: 'init', nodes: [{ id: 'a', gpus: 2, numa: [[0, 1, null]] }] }, /each slot/],
    ['half a slot', { op: 'init', nodes: [{ id: 'a', gpus: 2, numa: [[0, 0.5]] }] }, /each slot/],
    ['NUMA that is no list', { op: 'init', nodes: [{ id: 'a', gpus: 2, numa: [0, 1] }] }, /array of arrays/],
  ])('answers %s with one clear error and goes on', (_what, line, error) => {
    const simulator = started();
    expect(ask(simulator, slice('held', 1))).toMatchObject({ node: 'a' });
    expect(ask(simulator, line)).toEqual({ error: expect.stringMatching(error) });
    expect(ask(simulator, slice('next', 1))).toEqual({ node: 'a', slots: [1] });
  });

  it('asks for an init first', () => {
    expect(ask(new Simulator(), slice('x', 1))).toEqual({ error: expect.stringMatching(/init/) });
  });
});
