import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseSlots } from './choose-slots.ts';
import { fitSlice, buildSlotLayout, countFreeSlots } from './layout.ts';
import { countSlots, toIndexes, toMask } from './slot-mask.ts';

const numa = [toMask([0, 1, 2, 3]), toMask([4, 5, 6, 7])];
const pairs = [0, 2, 4, 6].map((index) => toMask([index, index + 1]));
const layout = buildSlotLayout(numa, pairs);

const choose = (free: number[], gpus: number) => toIndexes(chooseSlots(layout, toMask(free), gpus));

describe('chooseSlots', () => {
  it('stays inside the NUMA node that has just enough room', () => {
    expect(choose([0, 1, 2, 3, 4, 5, 6], 3)).toEqual([4, 5, 6]);
    expect(choose([0, 4, 5, 6], 1)).toEqual([0]);
  });

  it('stays under one PCIe root inside it', () => {
    expect(choose([1, 2, 3], 2)).toEqual([2, 3]);
    expect(choose([0, 1, 3, 4, 5, 6, 7], 1)).toEqual([3]);
  });

  it('crosses as few as it must', () => {
    expect(choose([0, 4, 5, 6, 7], 5)).toEqual([0, 4, 5, 6, 7]);
    expect(choose([0, 1, 2, 4, 5], 4)).toEqual([0, 1, 2, 4]);
  });

  it('takes exactly so many free slots, over as many NUMA nodes as its fit says', () => {
    const anyFree = fc.integer({ min: 1, max: 255 });
    fc.assert(
      fc.property(anyFree, fc.integer({ min: 1, max: 8 }), (free, asked) => {
        const gpus = Math.min(asked, countSlots(free));
        const chosen = chooseSlots(layout, free, gpus);
        expect(chosen & ~free).toBe(0);
        expect(countSlots(chosen)).toBe(gpus);
        const used = numa.filter((group) => group & chosen);
        const fit = fitSlice(layout, countFreeSlots(layout, free), gpus);
        expect(used.length).toBe(Math.ceil(gpus / 4) + fit.crossings);
        const leftInUsed = used.reduce((sum, group) => sum + countSlots(free & group & ~chosen), 0);
        expect(leftInUsed).toBe(fit.leftoverInNuma);
        expect(countSlots(free & ~chosen)).toBe(fit.leftover);
      }),
    );
  });
});
