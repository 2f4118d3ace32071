import { expect, it } from 'vitest';
import { chosenSeed } from '../lifecycle/verify-lifecycle.ts';
import { judgeAtRest, judgeOrder, type SeenApp } from './app-model.ts';
import { verifyApps } from './verify-apps.ts';

it('app instances end as the model allows, with no process left and every wait true', async () => {
  const counts = await verifyApps({ seed: chosenSeed(), machines: 2, rounds: 2, operations: 14 });
  expect(counts['start']).toBeGreaterThan(0);
}, 400_000);

it('the model sees events that are out of order', () => {
  const whole = [
    'created',
    'starting',
    'member_added',
    'start_completed',
    'member_removed',
    'teardown_proved',
  ];
  expect(judgeOrder([...whole, 'succeeded'])).toBeNull();
  expect(judgeOrder(whole.toSpliced(1, 1))).toContain('member_added after created');
  expect(judgeOrder([...whole, 'succeeded', 'stopping'])).toContain('stopping after succeeded');
  expect(judgeOrder([...whole, 'succeeded', 'teardown_proved'])).toContain('teardown_proved twice');
});

it('the model sees an orphan, an end without a cause or a proof, and a wait without a reason', () => {
  const app = { id: 'a', kind: 'service', machine: 'm', deeds: new Set(['stop'] as const) } as const;
  const seen: SeenApp = {
    id: 'a',
    status: 'stopped',
    reason: 'cancelled',
    gate: null,
    teardown: 'proved',
    processes: 0,
    events: ['created'],
  };
  const free = { holders: 1, limit: 2 };
  const judge = (change: Partial<SeenApp>, deeds = app.deeds) =>
    judgeAtRest({ ...app, deeds }, { ...seen, ...change }, free);
  expect(judge({})).toBeNull();
  expect(judge({ processes: 1 })).toContain('1 processes');
  expect(judge({ teardown: 'open' })).toContain('without proof');
  expect(judge({}, new Set())).toContain('could as nothing');
  expect(judge({ status: 'failed', reason: 'node_lost' })).toContain('ended as failed node_lost');
  expect(judge({ status: 'running' })).toContain('after a stop');
  expect(judge({ status: 'running', reason: null }, new Set())).toContain('without a process');
  expect(judge({ status: 'created', gate: 'quota' }, new Set())).toContain('waits for quota: 1 of 2');
});
