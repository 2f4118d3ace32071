import type { TaskOutput } from '@gpuaas/contracts/tasks';
import { expect, it } from 'vitest';
import { wholeNodeUnits, wholeNodeViolations, type WholeNodeContext } from './whole-node-rules.ts';

type Discovery = TaskOutput['slice.topology_discover'];
type Gpu = NonNullable<Discovery['inventory']>['gpus'][number];

function gpu(index: number, change: Partial<Gpu> = {}): Gpu {
  return {
    pci_address: `0000:1${index}:00.0`,
    device_id: '10de:2335',
    model: 'H200-SXM-141GB',
    driver: 'nvidia',
    numa_node: index % 2,
    pcie_path: [`pci0000:0${index}`],
    iommu_group: index,
    iommu_group_others: [],
    ...change,
  };
}

const bmc = gpu(9, { model: null, device_id: '1a03:2000' });

function discovery(gpus: Gpu[], left_out: Discovery['left_out'] = []): Discovery {
  return {
    approval_required: true,
    candidates: [],
    left_out,
    inventory: {
      cpu: { model: 'x', sockets: 2, cores: 112, threads: 224, numa: [] },
      memory_kib: 2048 * 1024 * 1024,
      hugepages: [],
      gpus,
      fabrics: [],
      disks: [],
      bluefield: [],
      ovs_bridges: [],
    },
  };
}

const context: WholeNodeContext = {
  mode: 'baremetal',
  products: [{ gpuModel: 'H200-SXM-141GB', gpusTotal: 2 }],
};
const codes = (found: Discovery, change: Partial<WholeNodeContext> = {}): string[] =>
  wholeNodeViolations(found, { ...context, ...change }).map(({ code }) => code);

it('takes model, number and size from the inventory, without any slot or virtual function', () => {
  const found = discovery([gpu(0), gpu(1), bmc]);
  expect(codes(found)).toEqual([]);
  expect(wholeNodeUnits(found)).toMatchObject([
    { slot_index: 0, gpu_pci_address: '0000:10:00.0', vcpu: 112, memory_gib: 1024, numa_node: 0 },
    { slot_index: 1, gpu_pci_address: '0000:11:00.0', vcpu: 112, memory_gib: 1024, numa_node: 1 },
  ]);
});

it.each<[string, Discovery, Partial<WholeNodeContext>, string[]]>([
  ['a host for slices', discovery([gpu(0), gpu(1)]), { mode: 'slice' }, ['node_not_in_baremetal_mode']],
  ['a host without a mode', discovery([gpu(0), gpu(1)]), { mode: null }, ['node_not_in_baremetal_mode']],
  ['a host without GPUs', discovery([bmc]), {}, ['gpu_missing']],
  ['a size that no product has', discovery([gpu(0)]), {}, ['product_missing']],
  [
    'a mixture of models',
    discovery([gpu(0), gpu(1, { model: 'H100-SXM5-80GB' })]),
    {},
    ['gpu_models_differ'],
  ],
  [
    'a GPU that does not answer',
    discovery([gpu(0), gpu(1)], [{ device: '0000:11:00.0', kind: 'gpu', code: 'gpu_lost', reason: 'lost' }]),
    {},
    ['gpu_lost'],
  ],
])('refuses %s', (_what, found, change, expected) => {
  expect(codes(found, change)).toEqual(expected);
});
