import { expect, it } from 'vitest';
import { decideCleanup, type CleanupSituation } from './decide-cleanup.ts';

const first: CleanupSituation = {
  cause: 'release',
  ownDataOnly: false,
  isPreConfirmed: false,
  failures: 0,
  attempts: 3,
  refusal: null,
};
const transient = { failures: 1, refusal: 'wipe_failed' };

it.each<[string, Partial<CleanupSituation>, string]>([
  ['a release wipes what the lease wrote', {}, 'own_data'],
  ['a release tries a transient failure again', transient, 'own_data'],
  ['a release tries again after a host gave no reason', { failures: 1 }, 'own_data'],
  ['a release ends after its last attempt', { ...transient, failures: 3 }, 'operator'],
  ['a mounted disk needs an operator', { failures: 1, refusal: 'disk_mounted' }, 'operator'],
  ['a disk in use needs an operator', { failures: 1, refusal: 'disk_in_use' }, 'operator'],
  ['foreign data needs an operator', { failures: 1, refusal: 'disk_not_ours' }, 'operator'],
  ['another disk than the sold one needs an operator', { failures: 1, refusal: 'plan_refused' }, 'operator'],
  ['a failed launch leaves the disks', { cause: 'failed_launch' }, 'nothing'],
  [
    'a failed launch stops its machine in several attempts',
    { cause: 'failed_launch', ...transient },
    'nothing',
  ],
  [
    'a failed launch wipes its data if operators confirmed that beforehand',
    { cause: 'failed_launch', isPreConfirmed: true },
    'own_data',
  ],
  [
    'no policy confirms foreign data',
    { cause: 'failed_launch', isPreConfirmed: true, failures: 1, refusal: 'disk_not_ours' },
    'operator',
  ],
  ['an operator’s retry wipes what the lease wrote', { cause: 'operator' }, 'own_data'],
  ['an operator’s confirmation destroys foreign data too', { cause: 'operator_all_data' }, 'all_data'],
  [
    'no confirmation unmounts a disk',
    { cause: 'operator_all_data', failures: 1, refusal: 'disk_mounted' },
    'operator',
  ],
  [
    'a failed launch of a whole host removes the user it made',
    { cause: 'failed_launch', ownDataOnly: true },
    'own_data',
  ],
])('%s', (_title, change, expected) => {
  const decision = decideCleanup({ ...first, ...change });
  expect(decision.kind === 'run' ? decision.scope : 'operator').toBe(expected);
});
