import type { HostTree, NvmeDisk, Partition, PciNode, PciRoot } from './host-tree.ts';

interface GpuPlace {
  root: string;
  /** The bus behind the switch that GPU, adapter and disk share. */
  switchBus: string;
  gpu: string;
  nic: string;
  disk: string;
}

/** Bus numbers of a common 8-way board: one switch for each GPU with its adapter and its disk. */
const PLACES: readonly GpuPlace[] = [
  { root: '15', switchBus: '16', nic: '18', disk: '19', gpu: '1b' },
  { root: '37', switchBus: '38', nic: '40', disk: '41', gpu: '43' },
  { root: '48', switchBus: '49', nic: '4f', disk: '50', gpu: '52' },
  { root: '59', switchBus: '5a', nic: '5e', disk: '5f', gpu: '61' },
  { root: '97', switchBus: '98', nic: '9a', disk: '9b', gpu: '9d' },
  { root: 'b7', switchBus: 'b8', nic: 'c0', disk: 'c1', gpu: 'c3' },
  { root: 'c8', switchBus: 'c9', nic: 'ce', disk: 'cf', gpu: 'd1' },
  { root: 'd9', switchBus: 'da', nic: 'dc', disk: 'dd', gpu: 'df' },
];

const TIB = 2 ** 40;

export interface HgxOptions {
  gpus: number;
  /** Virtual functions of each adapter. */
  virtualFunctions: number;
  /** Partitions on the data disk of a GPU. */
  partitions: Record<number, Partition[]>;
  /** GPUs whose switch has no ACS: they share a group with their adapter. */
  sharedGroups: readonly number[];
  /** GPUs that no longer answer on the bus. */
  lost: readonly number[];
  /** Overrides of a GPU's data disk. */
  disks: Record<number, Pick<NvmeDisk, 'number' | 'sizeBytes'>>;
  /** The driver of the adapters' virtual functions. */
  functionDriver: string | null;
}

const CLEAN: HgxOptions = {
  gpus: 8,
  virtualFunctions: 2,
  partitions: {},
  sharedGroups: [],
  lost: [],
  disks: {},
  functionDriver: null,
};

/** An HGX H200 server: GPUs over two sockets, an adapter and a disk beside each, mirrored boot disks, BlueField-3. */
export function hgxH200(change: Partial<HgxOptions> = {}): HostTree {
  const options = { ...CLEAN, ...change };
  const half = options.gpus / 2;
  const places = PLACES.filter((_place, index) => index < half || (index >= 4 && index < 4 + half));
  return {
    cpuModel: 'INTEL(R) XEON(R) PLATINUM 8570',
    numa: [
      { cpus: '0-55,112-167', memoryKib: 1_056_000_000, hugepages: 960 },
      { cpus: '56-111,168-223', memoryKib: 1_056_000_000, hugepages: 960 },
    ],
    mounts: ['21 1 0:20 / /proc rw - proc proc rw', '22 1 0:21 / /sys rw - sysfs sysfs rw'],
    roots: [
      boardRoot(),
      ...places.map((place, index) => gpuRoot(place, index, index < half ? 0 : 1, options)),
    ],
    files: {
      '/sys/firmware/efi/fw_platform_size': '64',
      '/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c': '\u0006\0\0\0\0',
    },
  };
}

/** The board's own bus: BMC graphics, NVSwitches, BlueField-3, and the mirrored boot disks. */
function boardRoot(): PciRoot {
  const bootPartitions = (first: boolean): Partition[] => [
    { efi: true, filesystem: 'vfat', ...(first ? { mountPoint: '/boot/efi' } : {}) },
    { filesystem: 'linux_raid_member', holder: { name: 'md0', mountPoint: '/' } },
  ];
  return {
    name: 'pci0000:00',
    numaNode: 0,
    children: [
      { address: '0000:02:00.0', id: '1a03:2000', pciClass: '030000', driver: 'ast', iommuGroup: 1 },
      ...['07', '08', '09', '0a'].map((bus, index) => ({
        address: `0000:${bus}:00.0`,
        id: '10de:22a3',
        pciClass: '068000',
        iommuGroup: 2 + index,
      })),
      ...[0, 1].map((port) => ({
        address: `0000:0b:00.${port}`,
        id: '15b3:a2dc',
        pciClass: '020000',
        driver: 'mlx5_core',
        iommuGroup: 6 + port,
      })),
      { address: '0000:0b:00.2', id: '15b3:c2d5', pciClass: '080100', iommuGroup: 8 },
      ...[0, 1].map((index) => ({
        address: `0000:0${index + 3}:00.0`,
        id: '144d:a80b',
        pciClass: '010802',
        driver: 'nvme',
        iommuGroup: 9 + index,
        nvme: {
          // The kernel numbers disks as it finds them: boot disks are not always first.
          name: index === 0 ? 'nvme0' : 'nvme9',
          serial: `BTLA32100${index}`,
          wwid: `eui.00253845000000b${index}`,
          model: 'SAMSUNG MZ1L2960HCJR-00A07',
          sizeBytes: 0.875 * TIB,
          partitions: bootPartitions(index === 0),
        },
      })),
    ],
  };
}

function gpuRoot(place: GpuPlace, index: number, numaNode: number, options: HgxOptions): PciRoot {
  const group = 20 + index * 10;
  const shared = options.sharedGroups.includes(index);
  const partitions = options.partitions[index];
  const gpu: PciNode = {
    address: `0000:${place.gpu}:00.0`,
    id: '10de:2335',
    pciClass: '030200',
    driver: 'vfio-pci',
    iommuGroup: group,
    config: Buffer.from(options.lost.includes(index) ? [0xff, 0xff, 0xff, 0xff] : [0xde, 0x10, 0x35, 0x23]),
  };
  const nic: PciNode = {
    address: `0000:${place.nic}:00.0`,
    id: '15b3:1021',
    pciClass: '020700',
    driver: 'mlx5_core',
    iommuGroup: shared ? group : group + 1,
    rdma: {
      name: `mlx5_${index}`,
      linkLayer: 'InfiniBand',
      state: '4: ACTIVE',
      rate: '400 Gb/sec (4X NDR)',
    },
    sriov: {
      total: 16,
      functions: Array.from({ length: options.virtualFunctions }, (_, vf) => ({
        address: `0000:${place.nic}:00.${vf + 1}`,
        id: '15b3:101e',
        pciClass: '020700',
        ...(options.functionDriver ? { driver: options.functionDriver } : {}),
        iommuGroup: group + 4 + vf,
      })),
    },
  };
  const disk: PciNode = {
    address: `0000:${place.disk}:00.0`,
    id: '144d:a80a',
    pciClass: '010802',
    driver: 'nvme',
    iommuGroup: group + 2,
    nvme: {
      name: `nvme${8 - index}`,
      serial: `S6CKN0T30000${index}`,
      wwid: `eui.36434b30543000${index}0025384100000001`,
      model: 'SAMSUNG MZQL23T8HCLS-00A07',
      sizeBytes: 3.5 * TIB,
      ...options.disks[index],
      ...(partitions ? { partitions } : {}),
    },
  };
  const ports = [nic, disk, gpu].map((device, port) => ({
    address: `0000:${place.switchBus}:0${port}.0`,
    id: '1000:c030',
    pciClass: '060400',
    driver: 'pcieport',
    iommuGroup: shared ? group : group + 3,
    children: [device],
  }));
  return {
    name: `pci0000:${place.root}`,
    numaNode,
    children: [{ address: `0000:${place.root}:01.0`, id: '8086:352a', pciClass: '060400', children: ports }],
  };
}
