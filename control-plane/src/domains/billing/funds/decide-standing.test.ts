import { describe, expect, it } from 'vitest';
import { decideStanding, type Standing, type StandingFacts } from './decide-standing.ts';

const NOW = new Date('2026-11-15T10:00:00Z');
const later = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

const facts = (change: Partial<StandingFacts>): StandingFacts => ({
  available: 1000n,
  runsOutAt: null,
  before: { standing: 'good', stopsAt: null },
  warnSeconds: 3600,
  graceSeconds: 600,
  now: NOW,
  ...change,
});
const was = (standing: Standing, stopsAt: Date | null = null) => ({ standing, stopsAt });

describe('the standing of a tenant', () => {
  it.each<[string, Partial<StandingFacts>, Standing, Date | null]>([
    ['nothing runs', {}, 'good', null],
    ['the funds last', { runsOutAt: later(3601) }, 'good', null],
    ['the funds run out soon', { runsOutAt: later(3600) }, 'low', null],
    ['the funds are exhausted', { available: 0n, runsOutAt: NOW }, 'exhausted', later(600)],
    [
      'the grace does not start again at every check',
      { available: -5n, runsOutAt: NOW, before: was('exhausted', later(60)) },
      'exhausted',
      later(60),
    ],
    ['the grace is over', { available: -5n, runsOutAt: NOW, before: was('exhausted', NOW) }, 'stopped', null],
    ['no grace is granted', { available: -5n, runsOutAt: NOW, graceSeconds: 0 }, 'stopped', null],
    ['it stays stopped without funds', { available: -5n, before: was('stopped') }, 'stopped', null],
    ['money came', { available: 1n, before: was('stopped') }, 'good', null],
    ['nothing runs and no funds are left', { available: 0n }, 'low', null],
  ])('when %s', (_, change, standing, stopsAt) => {
    expect(decideStanding(facts(change))).toEqual({ standing, stopsAt });
  });
});
