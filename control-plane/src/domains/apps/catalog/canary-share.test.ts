import fc from 'fast-check';
import { expect, it } from 'vitest';
import { takesCanary } from './canary-share.ts';

const text = fc.string({ minLength: 1, maxLength: 40 });

it('a raised share keeps every project of the lower one', () => {
  fc.assert(
    fc.property(
      text,
      text,
      fc.uuid(),
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 100 }),
      (slug, version, project, one, other) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)];
        const takes = (percent: number) => takesCanary({ slug, version, percent }, project);
        expect(takes(one)).toBe(takes(one));
        if (takes(low)) expect(takes(high)).toBe(true);
        expect(takes(100)).toBe(true);
      },
    ),
  );
});

it('the share of projects is the percentage, and another version gets other projects', () => {
  const projects = Array.from({ length: 5000 }, (_, n) => `project ${n}`);
  const share = (version: string, percent: number) =>
    projects.filter((project) => takesCanary({ slug: 'app', version, percent }, project));
  for (const percent of [1, 10, 25, 50])
    expect(Math.abs(share('2', percent).length - percent * 50)).toBeLessThan(150);
  const others = new Set(share('3', 10));
  expect(share('2', 10).filter((project) => others.has(project)).length).toBeLessThan(150);
});
