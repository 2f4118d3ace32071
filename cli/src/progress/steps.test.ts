import { expect, test } from 'vitest';
import { sectionLines, sectionsFor, type Section } from './steps.ts';

const step = { stage: 'wipe', percent: null, started_at: null, ended_at: null, detail: '' } as const;
const section = (name: Section['section'], ...steps: Section['steps']): Section => ({
  section: name,
  title: name,
  steps,
});

test('a step is a mark, its title and its detail; the state is a word where nobody sees marks', () => {
  const steps = section(
    'release',
    { ...step, title: 'Stop', state: 'done', detail: 'Stopped' },
    { ...step, title: 'Wipe the disks', state: 'active', percent: 50, detail: 'Wiping' },
    { ...step, title: 'Verify', state: 'waiting' },
    { ...step, title: 'Close', state: 'skipped' },
    { ...step, title: 'Remove', state: 'failed', detail: 'No' },
  );
  expect(sectionLines(steps, { isTTY: false })).toEqual([
    'release',
    '  Stop            done     Stopped',
    '  Wipe the disks  active   Wiping',
    '  Verify          waiting',
    '  Close           skipped',
    '  Remove          failed   No',
  ]);
  process.env['NO_COLOR'] = '1';
  expect(sectionLines(steps, { isTTY: true }).map((line) => line.trimEnd())).toEqual([
    'release',
    '  ✔ Stop            Stopped',
    '  ▸ Wipe the disks  ██████████░░░░░░░░░░  50 %  Wiping',
    '  · Verify',
    '  – Close           skipped',
    '  ✖ Remove          No',
  ]);
});

test('a release is followed without its launch', () => {
  const sections = [section('launch'), section('lease'), section('release')];
  expect(sectionsFor(sections, 'released').map(({ title }) => title)).toEqual(['release']);
  expect(sectionsFor(sections, 'active')).toEqual(sections);
});
