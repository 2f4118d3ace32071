import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { node, request } from '../../placement/testing/nodes.ts';
import { chooseNodeToHold } from '../../placement/choose-node-to-hold.ts';
import { isProtected, orderQueue, type QueueEntry } from './order-queue.ts';

const MINUTE = 60_000;
const rules = { now: 100 * MINUTE, protectAfterMs: 15 * MINUTE };

const waiting = fc
  .array(
    fc.record({
      organizationId: fc.constantFrom('a', 'b', 'c', 'd'),
      gpus: fc.constantFrom(1, 2, 4, 8),
      queuedAt: fc.integer({ min: 70, max: 100 }).map((minute) => minute * MINUTE),
    }),
    { maxLength: 30 },
  )
  .map((entries) =>
    entries.map((entry, index): QueueEntry => ({ ...entry, id: String(index).padStart(3, '0') })),
  );
const holdings = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat({ max: 64 }));
const lines = fc.tuple(waiting, holdings).map(([entries, held]) => ({
  entries,
  held: new Map(Object.entries(held)),
}));

describe('the line', () => {
  it('holds every launch once, in whatever order they come', () => {
    fc.assert(
      fc.property(lines, fc.infiniteStream(fc.nat()), ({ entries, held }, keys) => {
        const order = orderQueue(entries, held, rules);
        expect(order.map(({ id }) => id).toSorted()).toEqual(entries.map(({ id }) => id).toSorted());
        const shuffled = entries
          .map((entry) => ({ entry, key: keys.next().value as number }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ entry }) => entry);
        expect(orderQueue(shuffled, held, rules)).toEqual(order);
      }),
    );
  });

  it('lets no younger launch pass one that has waited long enough', () => {
    fc.assert(
      fc.property(lines, ({ entries, held }) => {
        const order = orderQueue(entries, held, rules);
        for (const [place, entry] of order.entries()) {
          if (!isProtected(entry, rules.now, rules.protectAfterMs)) continue;
          for (const before of order.slice(0, place))
            expect(before.queuedAt).toBeLessThanOrEqual(entry.queuedAt);
        }
      }),
    );
  });

  it('gives each turn to the tenant that holds least, and to its oldest launch', () => {
    fc.assert(
      fc.property(lines, ({ entries, held }) => {
        const order = orderQueue(entries, held, rules);
        const share = new Map(held);
        for (const [place, entry] of order.entries()) {
          const rest = order.slice(place);
          if (!isProtected(entry, rules.now, rules.protectAfterMs)) {
            const least = Math.min(...rest.map(({ organizationId }) => share.get(organizationId) ?? 0));
            expect(share.get(entry.organizationId) ?? 0).toBe(least);
            const own = rest.filter(({ organizationId }) => organizationId === entry.organizationId);
            expect(entry.queuedAt).toBe(Math.min(...own.map(({ queuedAt }) => queuedAt)));
          }
          share.set(entry.organizationId, (share.get(entry.organizationId) ?? 0) + entry.gpus);
        }
      }),
    );
  });
});

describe('a launch of a whole node in a stream of small ones', () => {
  /**
   * Minutes until it starts. Small launches arrive all the time and run for at most `longest`; two nodes of 8
   * GPUs.
   */
  function wait(seeds: readonly number[], longest: number): number | null {
    const size = 8;
    const leases: { node: number; end: number }[] = [];
    const free = (host: number, at: number): number =>
      size - leases.filter((lease) => lease.node === host && lease.end > at).length;
    let line: QueueEntry[] = [];
    let kept: number | null = null;
    for (let minute = 0; minute < 1000; minute += 1) {
      const seed = seeds[minute % seeds.length]!;
      // More small launches arrive than end, each of another tenant, which therefore holds less than ours.
      for (let one = 0; one < 4; one += 1) {
        const id = `${minute}-${one}`;
        line.push({ id, organizationId: id, gpus: 1, queuedAt: minute });
      }
      if (minute === 20) line.push({ id: 'large', organizationId: 'ours', gpus: size, queuedAt: minute });
      const order = orderQueue(line, new Map([['ours', 100]]), { now: minute, protectAfterMs: 15 });
      for (const launch of order) {
        const host = [0, 1].find(
          (candidate) =>
            free(candidate, minute) >= launch.gpus && (kept !== candidate || launch.id === 'large'),
        );
        if (host === undefined) continue;
        if (launch.id === 'large') return minute - 20;
        leases.push({ node: host, end: minute + 1 + ((seed + leases.length) % longest) });
        line = line.filter(({ id }) => id !== launch.id);
      }
      // Older launches go first; the oldest blocked one gets a node.
      const head = order.find(({ id }) => line.some((entry) => entry.id === id));
      if (kept === null && head?.id === 'large' && isProtected(head, minute, 15)) {
        kept = free(0, minute) >= free(1, minute) ? 0 : 1;
      }
      line = line.filter(({ id, queuedAt }) => id === 'large' || minute - queuedAt < 10);
    }
    return null;
  }

  it('starts when the leases on the node held for it have ended', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 2, max: 60 }),
        (seeds, longest) => {
          expect(wait(seeds, longest)).toBeLessThanOrEqual(15 + longest + 1);
        },
      ),
    );
  });
});

describe('the node held for a launch', () => {
  it('is where it fits soonest, then where most is free, and never one that cannot serve it', () => {
    const wanted = request({ gpus: 8 });
    const soon = node('soon', { leases: [{ slots: [0, 1, 2], endsAt: 50 }] });
    const late = node('late', { leases: [{ slots: [0], endsAt: 90 }] });
    const open = node('open', { leases: [{ slots: [0] }] });
    const fuller = node('fuller', { leases: [{ slots: [0, 1] }] });
    expect(chooseNodeToHold(wanted, [late, soon, open])?.nodeId).toBe('soon');
    expect(chooseNodeToHold(wanted, [fuller, open])?.nodeId).toBe('open');
    expect(chooseNodeToHold(wanted, [node('a', {}, { draining: true }), node('b', { size: 4 })])).toBeNull();
    const promised = node('p', {}, { promises: [{ holder: 'theirs', from: 0, until: Infinity }] });
    expect(chooseNodeToHold(wanted, [promised])).toBeNull();
    expect(chooseNodeToHold({ ...wanted, holders: ['theirs'] }, [promised])?.nodeId).toBe('p');
  });
});
