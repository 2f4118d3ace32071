import { expect, it } from 'vitest';
import { judgeSmokeRun, type SmokeFacts } from './judge-smoke-run.ts';

const starting: SmokeFacts = {
  instance: { kind: 'service', status: 'starting', ending: null, reason: null, gate: null },
  hasProbe: true,
  wasHealthy: false,
  hasStarted: false,
  lastMessage: null,
  isOverdue: false,
};
const gate = {
  gate: 'capacity',
  outcome: 'wait',
  reason: 'capacity',
  message: 'The allocation is provisioning.',
  facts: {},
} as const;

it.each<[string, SmokeFacts, object]>([
  ['goes on while it starts', starting, { state: 'running', reason: null }],
  [
    'shows what it waits for',
    { ...starting, instance: { ...starting.instance, status: 'created', gate } },
    { state: 'running', reason: 'capacity', message: gate.message },
  ],
  ['passes when the service was healthy', { ...starting, wasHealthy: true }, { state: 'passed' }],
  [
    'does not pass when a service with a probe only started',
    { ...starting, hasStarted: true },
    { state: 'running' },
  ],
  [
    'passes when a service without a probe started',
    { ...starting, hasStarted: true, hasProbe: false },
    { state: 'passed' },
  ],
  [
    'does not pass while a job runs',
    { ...starting, hasStarted: true, hasProbe: false, instance: { ...starting.instance, kind: 'job' } },
    { state: 'running' },
  ],
  [
    'passes when the job succeeded',
    { ...starting, instance: { ...starting.instance, kind: 'job', status: 'succeeded' } },
    { state: 'passed' },
  ],
  [
    'fails with the reason of its instance as soon as the end is decided',
    {
      ...starting,
      instance: { ...starting.instance, ending: 'failed', reason: 'probe_failed' },
      lastMessage: 'No answer',
    },
    { state: 'failed', reason: 'probe_failed', message: 'No answer' },
  ],
  [
    'fails when somebody stopped it',
    { ...starting, instance: { ...starting.instance, status: 'stopped', reason: 'cancelled' } },
    { state: 'failed', reason: 'cancelled' },
  ],
  ['fails at its deadline', { ...starting, isOverdue: true }, { state: 'failed', reason: 'deadline' }],
  [
    'fails at its deadline with what it still waits for',
    { ...starting, isOverdue: true, instance: { ...starting.instance, status: 'created', gate } },
    { state: 'failed', reason: 'capacity', message: gate.message },
  ],
])('a smoke run %s', (_, facts, expected) => {
  expect(judgeSmokeRun(facts)).toMatchObject(expected);
});
