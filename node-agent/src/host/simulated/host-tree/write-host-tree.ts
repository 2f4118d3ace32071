import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import {
  controllerAttributes,
  namespaceAttributes,
  pciAttributes,
  rdmaAttributes,
  sriovAttributes,
  type Attributes,
} from './attributes.ts';
import type { HostTree, NvmeDisk, Partition, PciNode } from './host-tree.ts';

/**
 * Where the machine is laid out: a folder, or memory. Link targets that begin with `/` count from the tree's
 * root.
 */
export interface Tree {
  file(path: string, content: string | Buffer | number): void;
  link(path: string, target: string): void;
}

const CORES_PER_SOCKET = 56;

/** Lays the machine out below `root` with the layout and the relative links of sysfs. */
export function writeHostTree(root: string, host: HostTree): void {
  const tree: Tree = {
    file(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), Buffer.isBuffer(content) ? content : `${content}\n`);
    },
    link(path, target) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      rmSync(join(root, path), { force: true });
      symlinkSync(target.startsWith('/') ? relative(dirname(path), target) : target, join(root, path));
    },
  };
  layHostTree(tree, host);
}

export function layHostTree(tree: Tree, host: HostTree): void {
  const table: MountTable = { mounts: [...host.mounts], swaps: [], minor: 0 };
  for (const pciRoot of host.roots) {
    for (const node of pciRoot.children) {
      const socket = { node: pciRoot.numaNode, cpus: host.numa[pciRoot.numaNode]?.cpus ?? '' };
      writePci(tree, `/sys/devices/${pciRoot.name}`, node, socket, table);
    }
  }
  writeMemory(tree, host);
  tree.file('/proc/1/mountinfo', table.mounts.join('\n'));
  tree.file('/proc/swaps', ['Filename Type Size Used Priority', ...table.swaps].join('\n'));
  for (const [path, content] of Object.entries(host.files)) {
    if (content.startsWith('->')) tree.link(path, content.slice(2).trim());
    else tree.file(path, content);
  }
}

interface MountTable {
  mounts: string[];
  swaps: string[];
  minor: number;
}

interface Socket {
  node: number;
  cpus: string;
}

function writeAll(tree: Tree, at: string, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) tree.file(`${at}/${name}`, value);
}

function writePci(tree: Tree, parent: string, node: PciNode, socket: Socket, table: MountTable): void {
  const at = `${parent}/${node.address}`;
  const [vendor = '', device = ''] = node.id.split(':');
  tree.file(`${at}/vendor`, `0x${vendor}`);
  tree.file(`${at}/device`, `0x${device}`);
  tree.file(`${at}/class`, `0x${node.pciClass}`);
  tree.file(`${at}/numa_node`, socket.node);
  writeAll(tree, at, pciAttributes(node, socket.cpus));
  if (node.config) tree.file(`${at}/config`, node.config);
  tree.link(`/sys/bus/pci/devices/${node.address}`, at);
  if (node.driver) {
    tree.file(`/sys/bus/pci/drivers/${node.driver}/module`, '');
    tree.link(`${at}/driver`, `/sys/bus/pci/drivers/${node.driver}`);
  }
  if (node.iommuGroup !== undefined) {
    const group = `/sys/kernel/iommu_groups/${node.iommuGroup}`;
    tree.link(`${group}/devices/${node.address}`, at);
    tree.link(`${at}/iommu_group`, group);
  }
  for (const child of node.children ?? []) writePci(tree, at, child, socket, table);
  if (node.sriov) {
    tree.file(`${at}/sriov_totalvfs`, node.sriov.total);
    tree.file(`${at}/sriov_numvfs`, node.sriov.functions.length);
    writeAll(tree, at, sriovAttributes(node.sriov.functions));
    for (const [index, vf] of node.sriov.functions.entries()) {
      writePci(tree, parent, vf, socket, table);
      tree.link(`${at}/virtfn${index}`, `${parent}/${vf.address}`);
      tree.link(`${parent}/${vf.address}/physfn`, at);
    }
  }
  if (node.rdma) {
    const rdma = `${at}/infiniband/${node.rdma.name}`;
    tree.file(`${rdma}/ports/1/link_layer`, node.rdma.linkLayer);
    tree.file(`${rdma}/ports/1/state`, node.rdma.state);
    tree.file(`${rdma}/ports/1/rate`, node.rdma.rate);
    writeAll(tree, rdma, rdmaAttributes(node.address, node.rdma.linkLayer));
    tree.link(`${rdma}/device`, at);
    tree.link(`/sys/class/infiniband/${node.rdma.name}`, rdma);
  }
  if (node.nvme) {
    writeNvme(tree, at, node.address, node.nvme, table);
    writeAll(tree, `${at}/nvme/${node.nvme.name}`, controllerAttributes(node.nvme, socket.node));
    writeAll(tree, `${at}/nvme/${node.nvme.name}/${node.nvme.name}n1`, namespaceAttributes);
  }
}

function writeNvme(tree: Tree, at: string, address: string, disk: NvmeDisk, table: MountTable): void {
  const controller = `${at}/nvme/${disk.name}`;
  tree.file(`${controller}/serial`, disk.serial.padEnd(20));
  tree.file(`${controller}/model`, disk.model.padEnd(40));
  tree.file(`${controller}/address`, address);
  tree.file(`${controller}/transport`, 'pcie');
  tree.link(`${controller}/device`, at);
  tree.link(`/sys/class/nvme/${disk.name}`, controller);
  const name = `${disk.name}n1`;
  const namespace = `${controller}/${name}`;
  const number = writeBlock(tree, namespace, name, disk.sizeBytes, table, disk.number);
  tree.file(`${namespace}/wwid`, disk.wwid);
  tree.link(`${namespace}/device`, controller);
  tree.link(`/sys/block/${name}`, namespace);
  tree.link(`/dev/disk/by-id/nvme-${disk.wwid}`, `/dev/${name}`);
  tree.link(`/dev/disk/by-id/nvme-${disk.model.replaceAll(' ', '_')}_${disk.serial}`, `/dev/${name}`);
  writeUdev(tree, number, {
    ID_SERIAL_SHORT: disk.serial,
    ...(disk.filesystem ? { ID_FS_TYPE: disk.filesystem } : {}),
    ...(disk.partitions ? { ID_PART_TABLE_TYPE: 'gpt' } : {}),
  });
  for (const [index, partition] of (disk.partitions ?? []).entries()) {
    writePartition(tree, namespace, `${name}p${index + 1}`, index + 1, partition, table);
  }
}

const EFI_TYPE = 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b';

function writePartition(
  tree: Tree,
  disk: string,
  name: string,
  index: number,
  partition: Partition,
  table: MountTable,
): void {
  const at = `${disk}/${name}`;
  const number = writeBlock(tree, at, name, 1 << 30, table);
  tree.file(`${at}/partition`, index);
  writeUdev(tree, number, {
    ...(partition.filesystem ? { ID_FS_TYPE: partition.filesystem } : {}),
    ...(partition.efi ? { ID_PART_ENTRY_TYPE: EFI_TYPE } : {}),
  });
  if (partition.mountPoint) mount(table, number, partition.mountPoint, `/dev/${name}`, partition.filesystem);
  if (partition.swap) table.swaps.push(`/dev/${name} partition 8388604 0 -2`);
  if (!partition.holder) return;
  const holder = `/sys/devices/virtual/block/${partition.holder.name}`;
  const holderNumber = writeBlock(tree, holder, partition.holder.name, 1 << 30, table);
  tree.link(`${at}/holders/${partition.holder.name}`, holder);
  if (partition.holder.mountPoint) {
    mount(table, holderNumber, partition.holder.mountPoint, `/dev/${partition.holder.name}`, 'ext4');
  }
}

function writeBlock(
  tree: Tree,
  at: string,
  name: string,
  bytes: number,
  table: MountTable,
  number = `259:${table.minor++}`,
): string {
  tree.file(`${at}/dev`, number);
  tree.file(`${at}/size`, Math.floor(bytes / 512));
  tree.file(`/dev/${name}`, '');
  tree.link(`/sys/class/block/${name}`, at);
  return number;
}

function mount(table: MountTable, number: string, point: string, source: string, fsType = 'ext4'): void {
  const line = `${100 + table.mounts.length} 1 ${number} / ${point.replaceAll(' ', '\\040')}`;
  table.mounts.push(`${line} rw,relatime shared:1 - ${fsType} ${source} rw`);
}

function writeUdev(tree: Tree, number: string, facts: Record<string, string>): void {
  const lines = Object.entries(facts).map(([key, value]) => `E:${key}=${value}`);
  tree.file(`/run/udev/data/b${number}`, ['I:1', ...lines].join('\n'));
}

function writeMemory(tree: Tree, host: HostTree): void {
  for (const [node, { cpus, memoryKib, hugepages }] of host.numa.entries()) {
    const at = `/sys/devices/system/node/node${node}`;
    tree.file(`${at}/cpulist`, cpus);
    tree.file(`${at}/meminfo`, `Node ${node} MemTotal:       ${memoryKib} kB`);
    tree.file(`${at}/hugepages/hugepages-1048576kB/nr_hugepages`, hugepages);
    tree.file(`${at}/hugepages/hugepages-1048576kB/free_hugepages`, hugepages);
  }
  const total = host.numa.reduce((sum, { memoryKib }) => sum + memoryKib, 0);
  tree.file('/proc/meminfo', `MemTotal:       ${total} kB`);
  const threads = host.numa.flatMap(({ cpus }, socket) => {
    const own = expand(cpus);
    return own.map((cpu) => {
      const core = cpu % CORES_PER_SOCKET;
      const siblings = own.filter((other) => other % CORES_PER_SOCKET === core);
      tree.file(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`, siblings.join(','));
      return [
        `processor\t: ${cpu}`,
        `model name\t: ${host.cpuModel}`,
        `physical id\t: ${socket}`,
        `core id\t\t: ${core}`,
      ].join('\n');
    });
  });
  tree.file('/proc/cpuinfo', threads.join('\n\n'));
}

function expand(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
