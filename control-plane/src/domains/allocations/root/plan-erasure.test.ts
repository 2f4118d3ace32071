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
  expect(planErasure(machine('deployed'), OURS, false)).toEqual({ kind: 'release' });
  expect(planErasure(machine('disk_erasing'), OURS, true)).toEqual({ kind: 'wait' });
  expect(planErasure(machine('releasing'), OURS, true)).toEqual({ kind: 'wait' });
  expect(planErasure(machine('ready', null), OURS, true)).toEqual({ kind: 'finish' });
});

it('a ready machine proves nothing without an observed erasure', () => {
  expect(planErasure(machine('ready', null), OURS, false)).toEqual({ kind: 'allocate' });
  expect(planErasure(machine('allocated'), OURS, false)).toEqual({ kind: 'release' });
});

it('a failed erasure ends the attempt; the next attempt erases again', () => {
  expect(planErasure(machine('failed_disk_erasing'), OURS, true)).toEqual({
    kind: 'fail',
    detail: 'In MAAS the machine is failed disk erasing, with owner gpuaas',
  });
  expect(planErasure(machine('failed_disk_erasing'), OURS, false)).toEqual({ kind: 'release' });
});

it('leaves machines of other users and in unknown states alone', () => {
  for (const [status, owner] of [
    ['deployed', 'somebody'],
    ['ready', 'somebody'],
    ['unknown', OURS],
    ['retired', null],
  ] as const) {
    expect(planErasure(machine(status, owner), OURS, true), status).toMatchObject({ kind: 'fail' });
  }
});
