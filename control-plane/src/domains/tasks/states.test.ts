import { expect, it } from 'vitest';
import { isOpenTask, OPEN_TASK_STATES, taskTransitions } from './states.ts';

it('a task is open exactly while another state may follow', () => {
  const states = Object.entries(taskTransitions);
  expect(states.filter(([, next]) => next.length > 0).map(([state]) => state)).toEqual(OPEN_TASK_STATES);
  expect(states.filter(([state]) => isOpenTask(state)).map(([state]) => state)).toEqual(OPEN_TASK_STATES);
});

it('a task that has ended stays as it is', () => {
  for (const state of ['succeeded', 'failed', 'expired'] as const) expect(taskTransitions[state]).toEqual([]);
});
