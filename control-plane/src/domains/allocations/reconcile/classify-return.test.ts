import { describe, expect, it } from 'vitest';
import { describeReturn, describeSilence, classifyReturn, type ReturnVerdict } from './classify-return.ts';

const startedAt = new Date('2026-11-16T10:00:00.400Z');
const later = new Date('2026-11-16T11:00:00Z');
const delivered = { bootId: 'a', startedAt };

describe('a host that returns', () => {
  it.each<[string, ReturnVerdict, Parameters<typeof classifyReturn>[0]]>([
    [
      'the same run in the same boot',
      'served',
      { delivered, machine: { startedAt, running: true }, bootId: 'a' },
    ],
    [
      'times rounded on the way',
      'served',
      { delivered, machine: { startedAt: new Date('2026-11-16T10:00:00Z'), running: true }, bootId: 'a' },
    ],
    ['a later start', 'restarted', { delivered, machine: { startedAt: later, running: true }, bootId: 'a' }],
    ['another boot', 'restarted', { delivered, machine: { startedAt, running: true }, bootId: 'b' }],
    [
      'a machine that is shut down',
      'stopped',
      { delivered, machine: { startedAt, running: false }, bootId: 'a' },
    ],
    ['no machine', 'lost', { delivered, machine: null, bootId: 'a' }],
    [
      'nothing known before',
      'served',
      { delivered: { bootId: null, startedAt: null }, machine: { startedAt, running: true }, bootId: 'a' },
    ],
  ])('with %s is %s', (_what, verdict, evidence) => {
    expect(classifyReturn(evidence)).toBe(verdict);
  });

  it('has a text without device or host names', () => {
    const texts = (['served', 'restarted', 'stopped', 'lost'] as const).map((verdict) =>
      describeReturn(verdict, startedAt),
    );
    for (const text of [...texts, describeSilence(startedAt)]) {
      expect(text).toContain('2026-11-16 10:00 UTC');
      expect(text.length).toBeLessThan(300);
    }
    expect(new Set(texts).size).toBe(4);
  });
});
