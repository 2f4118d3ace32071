import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeSlice, type CandidateNode } from './place-slice.ts';

const request = { region: 'me-1', gpuModel: 'H200', gpuCount: 2 };

function node(nodeId: string, free: number[], change: Partial<CandidateNode> = {}): CandidateNode {
  return {
    nodeId,
    hostname: nodeId,
    region: 'me-1',
    mode: 'slice',
    connected: true,
    draining: false,
    gpuModel: 'H200',
    freeSlots: free.map((index) => ({
      slotId: `${nodeId}/${index}`,
      slotIndex: index,
      numaNode: index < 4 ? 0 : 1,
      pcieRoot: `root${index}`,
    })),
    ...change,
  };
}

describe('placeSlice', () => {
  it('packs the partly used node and keeps the clean one clean', () => {
    const placement = placeSlice(request, [node('clean', [0, 1, 2, 3, 4, 5, 6, 7]), node('used', [5, 6, 7])]);
    expect(placement).toEqual({ fits: true, nodeId: 'used', slotIds: ['used/5', 'used/6'] });
  });

  it('stays inside one NUMA node where it can', () => {
    const placement = placeSlice(request, [node('a', [0, 4, 5, 6])]);
    expect(placement).toMatchObject({ slotIds: ['a/4', 'a/5'] });
  });

  it('never spans nodes and says how many nodes each filter rejected', () => {
    const placement = placeSlice(request, [
      node('a', [0]),
      node('b', [1]),
      node('c', [0, 1], { draining: true }),
    ]);
    expect(placement).toEqual({
      fits: false,
      largestSlice: 1,
      rejections: [
        { filter: 'not_draining', reason: 'being drained', nodes: 1 },
        { filter: 'enough_free_slots', reason: 'with too few free slots', nodes: 2 },
      ],
    });
  });

  it.each([
    ['region', { region: 'eu-1' }],
    ['slice_mode', { mode: 'baremetal' }],
    ['gpu_model', { gpuModel: 'H100' }],
    ['connected', { connected: false }],
    ['not_draining', { draining: true }],
  ])('rejects by %s', (filter, change) => {
    const placement = placeSlice(request, [node('a', [0, 1, 2], change)]);
    expect(placement).toMatchObject({ fits: false, rejections: [{ filter, nodes: 1 }], largestSlice: 0 });
  });

  it('gives exactly the asked number of distinct free slots of one node, in any input order', () => {
    const anyNode = fc
      .tuple(fc.string({ minLength: 1, maxLength: 4 }), fc.uniqueArray(fc.integer({ min: 0, max: 7 })))
      .map(([id, free]) => node(id, free));
    const anyNodes = fc.uniqueArray(anyNode, { selector: (n) => n.nodeId, maxLength: 6 });
    fc.assert(
      fc.property(anyNodes, fc.integer({ min: 1, max: 8 }), (nodes, gpuCount) => {
        const asked = { ...request, gpuCount };
        const placement = placeSlice(asked, nodes);
        expect(placeSlice(asked, nodes.toReversed())).toEqual(placement);
        const fitting = nodes.filter((n) => n.freeSlots.length >= gpuCount);
        expect(placement.fits).toBe(fitting.length > 0);
        if (!placement.fits) return;
        const chosen = nodes.find((n) => n.nodeId === placement.nodeId)!;
        expect(new Set(placement.slotIds).size).toBe(gpuCount);
        for (const id of placement.slotIds) expect(chosen.freeSlots.map((s) => s.slotId)).toContain(id);
      }),
    );
  });
});
