import { expect, it } from 'vitest';
import { canMove, hasEnded, transitions, type AppStatus } from './states.ts';

const statuses = Object.keys(transitions) as AppStatus[];

it('an app instance moves as the lifecycle says', () => {
  expect(canMove('created', 'starting')).toBe(true);
  expect(canMove('starting', 'running')).toBe(true);
  expect(canMove('running', 'stopping')).toBe(true);
  expect(canMove('stopping', 'stopped')).toBe(true);
  expect(canMove('running', 'stopped')).toBe(false);
  expect(canMove('created', 'running')).toBe(false);
});

it('stopped, failed and succeeded are final, and reachable from every other state', () => {
  const ended = statuses.filter(hasEnded);
  expect(ended.toSorted()).toEqual(['failed', 'stopped', 'succeeded']);
  const leadsToEnd = (from: AppStatus): boolean =>
    hasEnded(from) || transitions[from].some((to) => leadsToEnd(to));
  expect(statuses.filter((status) => !leadsToEnd(status))).toEqual([]);
});
