import { expect, it } from 'vitest';
import { capacityLosses, capacityViolations, sellableCapacity } from './host-capacity.ts';

const host = {
  cpu: { model: 'm', sockets: 2, cores: 32, threads: 64, numa: [] },
  memory_kib: 256 * 1024 ** 2 - 1,
};
const slot = { vcpu: 24, memoryGib: 64 };

it('sells what was measured in whole GiB, less the reserve, and never less than nothing', () => {
  expect(sellableCapacity(host, { vcpu: 8, memoryGib: 64 })).toEqual({ vcpu: 56, memoryGib: 191 });
  expect(sellableCapacity(host, { vcpu: 100, memoryGib: 300 })).toEqual({ vcpu: 0, memoryGib: 0 });
});

it.each([
  ['fits exactly', { vcpu: 48, memoryGib: 128 }, []],
  ['one vCPU short', { vcpu: 47, memoryGib: 128 }, ['host_cpu_exceeded']],
  ['one GiB short', { vcpu: 48, memoryGib: 127 }, ['host_memory_exceeded']],
  ['both short', { vcpu: 1, memoryGib: 1 }, ['host_cpu_exceeded', 'host_memory_exceeded']],
  ['not measured', null, ['host_not_measured']],
])('%s', (_, sellable, codes) => {
  expect(capacityViolations(sellable, [slot, slot]).map(({ code }) => code)).toEqual(codes);
});

it('a host loses what its latest discovery finds no more, whatever the reserve', () => {
  const inventory = {
    ...host,
    hugepages: [],
    gpus: [],
    fabrics: [],
    disks: [],
    bluefield: [],
    ovs_bridges: [],
  };
  const sold = (memory_gib: number) => [{ vcpu: 64, memory_gib }];
  expect(capacityLosses(inventory, sold(255))).toEqual([]);
  expect(capacityLosses(inventory, sold(256))).toEqual([
    'The slots need 256 GiB of memory, of which the host can give 255.',
  ]);
  expect(capacityLosses(undefined, sold(256))).toEqual([]);
});
