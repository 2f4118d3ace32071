import type { NvmeDisk, PciNode } from './host-tree.ts';

export type Attributes = Record<string, string | number>;

/** GPUs, NVSwitches, adapters, disks and the bridges between them; not the board's own graphics or DMA. */
const LINKED = /^(0302|0680|02|0108|0604)/;

/** Attributes in sysfs of every PCI device beside its ids. */
export function pciAttributes(node: PciNode, localCpus: string): Attributes {
  const [vendor = '', device = ''] = node.id.split(':');
  return {
    subsystem_vendor: `0x${vendor}`,
    subsystem_device: `0x${device}`,
    revision: vendor === '10de' ? '0xa1' : '0x00',
    local_cpulist: localCpus,
    enable: 1,
    driver_override: '(null)',
    reset: '',
    reset_method: 'flr bus',
    uevent: [
      ...(node.driver ? [`DRIVER=${node.driver}`] : []),
      `PCI_CLASS=${node.pciClass.replace(/^0+/, '').toUpperCase()}`,
      `PCI_ID=${node.id.toUpperCase()}`,
      `PCI_SLOT_NAME=${node.address}`,
    ].join('\n'),
    ...(LINKED.test(node.pciClass) ? linkAttributes(node) : {}),
  };
}

/** PCIe 5 over sixteen lanes; NVMe disks have four of PCIe 4. */
function linkAttributes({ nvme }: PciNode): Attributes {
  const [speed, width] = nvme ? ['16.0 GT/s PCIe', 4] : ['32.0 GT/s PCIe', 16];
  return {
    current_link_speed: speed,
    max_link_speed: speed,
    current_link_width: width,
    max_link_width: width,
  };
}

/** Of a physical function. */
export function sriovAttributes(functions: readonly PciNode[]): Attributes {
  return {
    sriov_offset: 1,
    sriov_stride: 1,
    sriov_vf_device: functions[0]?.id.split(':')[1] ?? '101e',
    sriov_drivers_autoprobe: 0,
  };
}

/** Attributes of an adapter in `/sys/class/infiniband`, whose GUID is derived from its PCI address. */
export function rdmaAttributes(address: string, linkLayer: string): Attributes {
  const digits = address.replace(/[:.]/g, '').slice(-8);
  const lid = linkLayer === 'InfiniBand' ? `0x${address.slice(5, 7)}` : '0x0';
  const guid = `b83f:d203:${digits.slice(0, 4)}:${digits.slice(4)}`;
  return {
    node_guid: guid,
    sys_image_guid: guid,
    fw_ver: '28.39.1002',
    board_id: 'MT_0000000838',
    hca_type: 'MT4129',
    node_type: '1: CA',
    'ports/1/phys_state': '5: LinkUp',
    'ports/1/lid': lid,
    'ports/1/sm_lid': linkLayer === 'InfiniBand' ? '0x1' : '0x0',
    'ports/1/gids/0': `fe80:0000:0000:0000:${guid}`,
    'ports/1/pkeys/0': '0xffff',
    'ports/1/counters/port_xmit_data': 0,
    'ports/1/counters/port_rcv_data': 0,
    'ports/1/counters/symbol_error': 0,
  };
}

/** Of an NVMe controller. */
export function controllerAttributes(disk: NvmeDisk, numaNode: number): Attributes {
  return {
    firmware_rev: 'GDC5602Q',
    state: 'live',
    numa_node: numaNode,
    subsysnqn: `nqn.1994-11.com.samsung:nvme:${disk.serial}`,
  };
}

/** Of its namespace as a block device. */
export const namespaceAttributes: Attributes = {
  'queue/rotational': 0,
  'queue/logical_block_size': 512,
  'queue/discard_granularity': 512,
  'queue/discard_max_bytes': 2_199_023_255_040,
};
