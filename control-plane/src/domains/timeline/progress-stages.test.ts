import { describe, expect, it } from 'vitest';
import { foldAllocation } from './allocation-timeline.ts';
import { progressStages as stagesOf } from './progress-stages.ts';

type Entry = Parameters<typeof foldAllocation>[0][number];

const slice = {
  capacity_shape: 'gpu_slice',
  root_granted_at: null,
  active_at: null,
  released_at: null,
  failure: null,
};
const progressStages = (entries: readonly Entry[], acceptedAt: string, row = slice) =>
  stagesOf(foldAllocation(entries, row), acceptedAt);

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const entry = (
  second: number,
  stage: Entry['stage'],
  status: Entry['status'],
  percent: number | null = null,
): Entry => ({ occurred_at: at(second), stage, status, percent, message: stage });

const launch = [
  entry(1, 'queue', 'running'),
  entry(5, 'placement', 'done', 100),
  entry(6, 'plan', 'running'),
  entry(7, 'image', 'running', 50),
  entry(9, 'seed', 'done', 100),
  entry(10, 'vm', 'running', 10),
  entry(12, 'network', 'done', 100),
  entry(13, 'readiness', 'done', 100),
  entry(14, 'active', 'done', 100),
];
const brief = (entries: readonly Entry[], row = slice) =>
  progressStages(entries, at(0), row).map(({ stage, status, percent }) => `${stage} ${status} ${percent}`);

describe('the stages of an allocation', () => {
  it('begin with its acceptance and follow its events', () => {
    expect(brief([])).toEqual([
      'onboarding running 0',
      'placement waiting 0',
      'image_clone waiting 0',
      'vm_boot waiting 0',
      'ssh_readiness waiting 0',
      'cleanup waiting 0',
    ]);
    expect(brief(launch.slice(0, 4)).slice(0, 4)).toEqual([
      'onboarding done 100',
      'placement done 100',
      'image_clone running 50',
      'vm_boot waiting 0',
    ]);
  });

  it('have times without gaps, and are all done in the end', () => {
    const stages = progressStages(launch, at(0));
    expect(stages.map(({ started_at, ended_at }) => [started_at, ended_at])).toEqual([
      [at(1), at(5)],
      [at(5), at(6)],
      [at(6), at(10)],
      [at(10), at(13)],
      [at(13), at(14)],
      [null, null],
    ]);
    const released = [
      ...launch,
      entry(20, 'release', 'running'),
      entry(21, 'wipe', 'running', 40),
      entry(30, 'released', 'done', 100),
    ];
    expect(brief(released).every((line) => line.endsWith('done 100'))).toBe(true);
    // The lease itself is part of no stage.
    expect(progressStages(released, at(0))[4]).toMatchObject({ ended_at: at(14), message: 'active' });
  });

  it('do not start or end again when a running machine reports an event', () => {
    const news = [
      ...launch,
      entry(60, 'host', 'running'),
      entry(70, 'host', 'failed'),
      entry(80, 'active', 'done', 100),
    ];
    expect(progressStages(news, at(0))).toEqual(progressStages(launch, at(0)));
  });

  it('show where a launch failed, and when', () => {
    const stages = progressStages([...launch.slice(0, 6), entry(11, 'failed', 'failed')], at(0));
    expect(stages[3]).toMatchObject({
      stage: 'vm_boot',
      status: 'failed',
      ended_at: at(11),
      message: 'failed',
    });
    expect(stages[4]).toMatchObject({ status: 'waiting' });
  });

  it('still show the failure during the cleanup, and end with the proof', () => {
    const failed = [...launch.slice(0, 6), entry(11, 'failed', 'failed'), entry(12, 'stop', 'done', 100)];
    const cleaning = progressStages([...failed, entry(13, 'wipe', 'running', 40)], at(0));
    expect(cleaning[3]).toMatchObject({ status: 'failed', ended_at: at(11), message: 'failed' });
    expect(cleaning[4]).toMatchObject({ status: 'waiting' });
    expect(cleaning[5]).toMatchObject({ status: 'running', started_at: at(12), ended_at: null });
    const cleaned = progressStages([...failed, entry(20, 'released', 'done', 100)], at(0));
    expect(cleaned[3]).toMatchObject({ status: 'failed' });
    expect(cleaned[5]).toMatchObject({ status: 'done', ended_at: at(20) });
  });

  it('continue when a failed release is retried', () => {
    const failed = [...launch, entry(20, 'release', 'running'), entry(25, 'failed', 'failed')];
    expect(brief(failed)[5]).toMatch('cleanup failed');
    expect(brief([...failed, entry(30, 'release', 'running')])[5]).toMatch('cleanup running');
  });

  it('that a whole host does not need are skipped', () => {
    const host = [
      entry(5, 'placement', 'done', 100),
      entry(6, 'plan', 'done', 100),
      entry(7, 'user', 'running'),
    ];
    expect(brief(host, { ...slice, capacity_shape: 'baremetal' })).toEqual([
      'onboarding done 100',
      'placement done 100',
      'image_clone done 100',
      'vm_boot skipped 0',
      'ssh_readiness running 0',
      'cleanup waiting 0',
    ]);
  });
});
