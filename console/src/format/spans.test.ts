import { expect, it } from 'vitest';
import { timeSpan } from './spans.ts';

const now = new Date('2026-03-02T15:00:00Z');

it('has whole days up to the end of today', () => {
  const week = timeSpan('week', now);
  expect(week).toMatchObject({
    from: '2026-02-24T00:00:00.000Z',
    to: '2026-03-03T00:00:00.000Z',
    step: 'day',
  });
  expect(week.steps).toHaveLength(7);
  expect(week.steps.at(-1)).toBe('2026-03-02');
  expect(timeSpan('month', now).steps).toHaveLength(30);
});

it('has whole months up to the end of this one', () => {
  const year = timeSpan('year', now);
  expect(year).toMatchObject({
    from: '2025-04-01T00:00:00.000Z',
    to: '2026-04-01T00:00:00.000Z',
    step: 'month',
  });
  expect([year.steps[0], year.steps.at(-1)]).toEqual(['2025-04', '2026-03']);
});
