import { expect, test } from 'vitest';
import type { Stage, TimelineEntry } from '../api/types.ts';
import { foldTimeline } from './fold-timeline.ts';
import { LAUNCH_STAGES } from './stages.ts';

let second = 0;
function entry(stage: Stage, status: TimelineEntry['status'], percent: number | null = null): TimelineEntry {
  second += 1;
  const occurredAt = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
  return {
    event_id: `event-${second}`,
    event_type: 'allocation.progress',
    occurred_at: occurredAt,
    stage,
    status,
    message: `${stage} ${status}`,
    percent,
  };
}

function statuses(entries: TimelineEntry[]) {
  return foldTimeline(LAUNCH_STAGES, entries).map(({ status }) => status);
}

test('a launch that has not begun waits at every stage', () => {
  expect(statuses([])).toEqual(LAUNCH_STAGES.map(() => 'waiting'));
});

test('the latest entry of a stage says how far it is', () => {
  const [placement, plan] = foldTimeline(LAUNCH_STAGES, [
    entry('placement', 'done'),
    entry('plan', 'running', 10),
    entry('plan', 'running', 60),
  ]);
  expect(placement).toMatchObject({ status: 'done', message: 'placement done' });
  expect(plan).toMatchObject({ status: 'running', percent: 60, endedAt: null });
});

test('a stage is done once a later one has begun, even if nobody said so', () => {
  const next = [entry('placement', 'running'), entry('image', 'running')];
  const [placement] = foldTimeline(LAUNCH_STAGES, next);
  expect(placement).toMatchObject({ status: 'done', endedAt: next[1]?.occurred_at });
});

test('a failure marks the stage it hit, and no other', () => {
  const folded = foldTimeline(LAUNCH_STAGES, [
    entry('placement', 'done'),
    entry('readiness', 'running', 40),
    entry('failed', 'failed'),
  ]);
  expect(folded.filter(({ status }) => status === 'failed')).toMatchObject([
    { stage: 'readiness', message: 'failed failed' },
  ]);
});
