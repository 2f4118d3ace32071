import { describe, expect, it } from 'vitest';
import type { AllocationStage } from '@gpuaas/contracts/generated/stages.ts';
import { foldAllocation, type AllocationFacts } from './allocation-timeline.ts';
import type { Entry } from './step.ts';

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
let second = 0;
const entry = (
  stage: AllocationStage,
  status: Entry<AllocationStage>['status'],
  percent: number | null = null,
): Entry<AllocationStage> => {
  second += 1;
  return { occurred_at: at(second), stage, status, percent, message: `${stage} ${status}` };
};
const done = (...stages: AllocationStage[]) => stages.map((stage) => entry(stage, 'done', 100));

const slice: AllocationFacts = {
  capacity_shape: 'gpu_slice',
  root_granted_at: null,
  active_at: null,
  released_at: null,
  failure: null,
};
const baremetal = { ...slice, capacity_shape: 'baremetal' };
const LAUNCH = ['placement', 'plan', 'image', 'seed', 'vm', 'network', 'readiness', 'active'] as const;
const WIPE = ['stop', 'network_cleanup', 'wipe', 'verify'] as const;

/** Each section as `section: stage state, …`; consecutive stages in one state are joined. */
function brief(entries: readonly Entry<AllocationStage>[], row: AllocationFacts = slice): string[] {
  return foldAllocation(entries, row).map(({ section, steps }) => {
    const runs: { state: string; stages: string[] }[] = [];
    for (const { stage, state } of steps) {
      if (runs.at(-1)?.state === state) runs.at(-1)!.stages.push(stage);
      else runs.push({ state, stages: [stage] });
    }
    return `${section}: ${runs.map(({ state, stages }) => `${state} ${stages.join(' ')}`).join(', ')}`;
  });
}

describe('a launch', () => {
  it('that has not started waits at every step of its shape', () => {
    expect(brief([])).toEqual([`launch: waiting ${LAUNCH.join(' ')}`]);
    expect(brief([], baremetal)).toEqual(['launch: waiting placement plan user readiness active']);
  });

  it('has one active step, with its latest percentage', () => {
    const entries = [...done('placement'), entry('plan', 'running'), entry('image', 'running', 40)];
    expect(brief(entries)).toEqual([
      'launch: done placement plan, active image, waiting seed vm network readiness active',
    ]);
    const steps = foldAllocation(entries, slice)[0]!.steps;
    expect(steps[1]).toMatchObject({ ended_at: steps[2]!.started_at });
    expect(steps[2]).toMatchObject({ percent: 40, ended_at: null, detail: 'image running' });
  });

  it('counts a step with a lost report as done', () => {
    expect(brief([...done('placement', 'plan', 'vm', 'active')])).toEqual([
      `launch: done ${LAUNCH.join(' ')}`,
    ]);
  });

  it('that failed names the step, and skips the rest', () => {
    const entries = [...done('placement', 'plan'), entry('image', 'running'), entry('failed', 'failed')];
    const failed = 'launch: done placement plan, failed image, skipped seed vm network readiness active';
    expect(brief(entries)).toEqual([failed]);
    expect(brief([...entries, ...done(...WIPE, 'released')])).toEqual([
      failed,
      'release: skipped release detach, done stop network_cleanup wipe verify released',
    ]);
  });

  it('starts again from the step that the host was asked to repeat', () => {
    const entries = [...done('placement', 'plan', 'image', 'seed'), entry('plan', 'running', 0)];
    expect(brief(entries)).toEqual([
      'launch: done placement, active plan, waiting image seed vm network readiness active',
    ]);
  });

  it('that waits in the queue shows it; cancelled there, it shows no other step', () => {
    const queued = [entry('queue', 'running')];
    expect(brief(queued)).toEqual([`launch: active queue, waiting ${LAUNCH.join(' ')}`]);
    expect(brief([...queued, ...done('released')])).toEqual([
      `launch: skipped queue ${LAUNCH.join(' ')}`,
      'release: skipped release detach stop network_cleanup wipe verify, done released',
    ]);
  });

  it('keeps its steps when ports open and the lease changes; the latest change is the detail of its last step', () => {
    const entries = [...done(...LAUNCH), entry('network', 'running', 10), ...done('active')];
    expect(brief(entries)).toEqual([`launch: done ${LAUNCH.join(' ')}`]);
    const [first] = foldAllocation(done(...LAUNCH), slice);
    expect(foldAllocation(entries, slice)[0]!.steps.at(-1)).toMatchObject({ detail: 'active done' });
    expect(first!.steps).toHaveLength(LAUNCH.length);
  });

  it('whose events are past retention follows the row', () => {
    expect(brief([], { ...slice, active_at: new Date() })).toEqual([`launch: done ${LAUNCH.join(' ')}`]);
    expect(brief([], { ...baremetal, active_at: new Date(), released_at: new Date() })).toEqual([
      'launch: done placement plan user readiness active',
      'release: done release detach stop user verify released',
    ]);
  });
});

describe('a host during the lease', () => {
  const up = () => done(...LAUNCH);

  it('is a step for each time it fell silent, open until it reports again', () => {
    const silent = [...up(), entry('host', 'running')];
    expect(brief(silent)[1]).toBe('lease: active host');
    expect(brief([...silent, ...done('host'), entry('host', 'running')])[1]).toBe(
      'lease: done host, active host',
    );
    expect(brief([...silent, entry('host', 'failed')])[1]).toBe('lease: failed host');
    expect(brief([...silent, entry('release', 'running')]).slice(1)).toEqual([
      'lease: done host',
      'release: active release, waiting detach stop network_cleanup wipe verify released',
    ]);
  });

  it('that falls silent repeatedly shows the latest step', () => {
    const often = Array.from({ length: 50 }, () => [entry('host', 'running'), ...done('host')]).flat();
    expect(foldAllocation([...up(), ...often], slice)[1]!.steps).toHaveLength(20);
  });
});

describe('a release', () => {
  const releasing = () => [...done(...LAUNCH), entry('release', 'running'), ...done('release', 'detach')];

  it('of a whole host removes a user; of a host with root it erases', () => {
    const host = [...done('placement', 'plan', 'user', 'readiness', 'active', 'release', 'detach')];
    const ended = [...host, ...done('stop', 'user', 'verify', 'released')];
    expect(brief(ended, baremetal)).toEqual([
      'launch: done placement plan user readiness active',
      'release: done release detach stop user verify released',
    ]);
    const root = { ...baremetal, root_granted_at: new Date() };
    expect(brief([...host, entry('erase', 'running')], root)[1]).toBe(
      'release: done release detach, active erase, waiting released',
    );
  });

  it('without a proven wipe fails at the check, although the host reported it as done', () => {
    const failed = [...releasing(), ...done(...WIPE), entry('failed', 'failed')];
    expect(brief(failed)[1]).toBe(
      'release: done release detach stop network_cleanup, failed wipe verify, waiting released',
    );
  });

  it('claims no wipe before the platform has accepted its evidence', () => {
    const reported = [...releasing(), ...done(...WIPE)];
    expect(brief(reported)[1]).toBe(
      'release: done release detach stop network_cleanup, active wipe verify, waiting released',
    );
    expect(foldAllocation(reported, slice)[1]!.steps[5]).toMatchObject({
      title: 'Verify the wipe',
      ended_at: null,
      detail: 'Waiting for proof',
    });
    expect(brief([...reported, ...done('released')])[1]).toMatch(/^release: done [a-z_ ]+ released$/);
    const lost = [...releasing(), ...done('stop', 'network_cleanup', 'verify')];
    expect(brief(lost)[1]).toContain('active wipe verify');
  });

  it('that is wiped again shows the current attempt', () => {
    const again = [...releasing(), ...done(...WIPE), ...done('stop'), entry('network_cleanup', 'running', 5)];
    expect(brief(again)[1]).toBe(
      'release: done release detach stop, active network_cleanup, waiting wipe verify released',
    );
    const asked = [...releasing(), ...done(...WIPE), entry('failed', 'failed'), entry('release', 'running')];
    expect(brief(asked)[1]).toBe(
      'release: active release, waiting detach stop network_cleanup wipe verify released',
    );
  });

  it('that an operator forced claims no wipe without evidence', () => {
    const forced = { ...slice, active_at: new Date(), failure: { code: 'force_released', detail: '' } };
    const entries = [...releasing(), ...done('stop'), entry('wipe', 'running', 3), ...done('released')];
    expect(brief(entries, forced)[1]).toBe(
      'release: done release detach stop, skipped network_cleanup wipe verify, done released',
    );
  });
});
