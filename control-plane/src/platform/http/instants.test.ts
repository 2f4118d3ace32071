import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInstant } from './instants.ts';

describe('a date-time of a request', () => {
  it.each([
    ['2026-02-28T23:59:59Z', '2026-02-28T23:59:59.000Z'],
    ['2024-02-29t00:00:00z', '2024-02-29T00:00:00.000Z'],
    ['2026-01-01 00:00:00.123456789+15:59', '2025-12-31T08:01:00.123Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, iso) => {
    expect(parseInstant(text)?.toISOString()).toBe(iso);
  });

  it.each([
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '2016-12-31T23:59:60Z',
    '2026-01-01T00:00:00+16:00',
    '2026-01-01T00:00:00-23:59',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01',
    'infinity',
    'now',
    '',
  ])('%s is none', (text) => {
    expect(parseInstant(text)).toBeNull();
  });

  it('is every time that a program writes', () => {
    const years = { min: new Date(-62_135_596_800_000), max: new Date(253_402_300_799_999) };
    fc.assert(
      fc.property(fc.date({ ...years, noInvalidDate: true }), (date) => {
        expect(parseInstant(date.toISOString())).toEqual(date);
      }),
    );
  });
});
