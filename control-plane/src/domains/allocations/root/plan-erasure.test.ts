import { expect, it } from 'vitest';
import type { MaasMachine } from '../../../platform/maas/machine.ts';
import type { MachineStatus } from '../../../platform/maas/machine-status.ts';
import { planErasure } from './plan-erasure.ts';

const OURS = 'gpuaas';

function machine(status: MachineStatus, owner: string | null = OURS): MaasMachine {
  return {
    systemId: 'abc',
    hostname: 'metal',
    status,
    statusMessage: '',
    owner,
    tags: [],
    powerState: 'on',
    architecture: 'amd64/generic',
    cpuCount: 1,
    memoryMib: 1,
    pool: '',
    zone: '',
    vendor: null,
    product: null,
    serial: null,
    commissioningSet: null,
    testingSet: null,
  };
}

it('a machine that is ours is released, and waited for', () => {
  expect(planErasure(machine('deployed'), OURS, false)).toBe('release');
  expect(planErasure(machine('disk_erasing'), OURS, true)).toBe('wait');
  expect(planErasure(machine('releasing'), OURS, true)).toBe('wait');
  expect(planErasure(machine('ready', null), OURS, true)).toBe('finish');
});

it('rest proves nothing where nobody saw the erasure', () => {
  expect(planErasure(machine('ready', null), OURS, false)).toBe('allocate');
  expect(planErasure(machine('allocated'), OURS, false)).toBe('release');
});

it('a failed erasure ends the attempt; the next one begins with another', () => {
  expect(planErasure(machine('failed_disk_erasing'), OURS, true)).toEqual({
    fail: 'In MAAS the machine is failed disk erasing, with owner gpuaas',
  });
  expect(planErasure(machine('failed_disk_erasing'), OURS, false)).toBe('release');
});

it('nothing is done to a machine of somebody else, or in a state that nobody knows', () => {
  for (const [status, owner] of [
    ['deployed', 'somebody'],
    ['ready', 'somebody'],
    ['unknown', OURS],
    ['retired', null],
  ] as const) {
    expect(planErasure(machine(status, owner), OURS, true), status).toHaveProperty('fail');
  }
});
