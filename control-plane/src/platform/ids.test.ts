import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUuid, newId, resourceName } from './ids.ts';

const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

describe('ids', () => {
  it('sort in the order they were made, many within a millisecond', () => {
    const made = Array.from({ length: 20_000 }, newId);
    expect(made.toSorted()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
    expect(made.every((id) => isUuid(id) && id[14] === '7' && '89ab'.includes(id[19]!))).toBe(true);
  });

  it('carry the time of their making', () => {
    const before = Date.now();
    const time = timeOf(newId());
    expect(time).toBeGreaterThanOrEqual(before);
    // Within one millisecond the counter may run ahead of the clock.
    expect(time).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('are distinguished from other text', () => {
    fc.assert(fc.property(fc.uuid(), (id) => isUuid(id) && isUuid(id.toUpperCase())));
    fc.assert(fc.property(fc.uuid(), fc.nat(35), (id, at) => !isUuid(id.slice(0, at) + id.slice(at + 1))));
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.string({ minLength: 1 }),
        (id, more) => !isUuid(id + more) && !isUuid(more + id),
      ),
    );
  });

  it('make resource names that can be taken apart again', () => {
    const region = fc.stringMatching(/^[a-z0-9-]{1,20}$/);
    fc.assert(
      fc.property(region, fc.uuid(), fc.uuid(), fc.uuid(), (place, organizationId, projectId, resourceId) => {
        const name = resourceName({
          region: place,
          organizationId,
          projectId,
          resourceType: 'allocation',
          resourceId,
        });
        expect(name.split(':').slice(-5)).toEqual([
          place,
          organizationId,
          projectId,
          'allocation',
          resourceId,
        ]);
      }),
    );
  });
});
