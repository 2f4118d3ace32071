import { expect, it } from 'vitest';
import { gpuUse, namedDevices } from './gpu-use.ts';

const uuids = ['GPU-aaaa-1', 'GPU-bbbb-2', 'GPU-cccc-3'];

it.each([
  ['', []],
  ['0', [0]],
  ['2,0', [2, 0]],
  ['GPU-bbbb', [1]],
  ['0,7,1', [0]],
  ['-1', []],
  ['0,0,1', [0]],
  ['GPU', []],
  ['NoDevFiles', []],
])('reads CUDA_VISIBLE_DEVICES=%s as CUDA does', (value, expected) => {
  expect(namedDevices(value, uuids)).toEqual(expected);
});

it('is the processor time of the processes that name a GPU, up to a whole core', () => {
  const before = new Map([
    [10, 100],
    [11, 5],
  ]);
  const now = [
    { pid: 10, seconds: 100.5, devices: '0' },
    { pid: 11, seconds: 6, devices: '0,1' },
    { pid: 12, seconds: 8, devices: '2' },
  ];
  expect(gpuUse(uuids, before, now, 2)).toEqual([75, 50, 100]);
  expect(gpuUse(uuids, before, [], 2)).toEqual([0, 0, 0]);
});

it('is never negative when a process id is used again', () => {
  expect(gpuUse(uuids, new Map([[10, 50]]), [{ pid: 10, seconds: 1, devices: '1' }], 1)).toEqual([0, 0, 0]);
});
