/** A machine as data. `writeHostTree` creates the files and links that its kernel would show. */
export interface HostTree {
  roots: PciRoot[];
  numa: NumaNode[];
  cpuModel: string;
  /** Further mounts beside those of the disks, as lines of mountinfo. */
  mounts: string[];
  /** Any other file by its path; a value that starts with `->` is a link. */
  files: Record<string, string>;
}

export interface NumaNode {
  cpus: string;
  memoryKib: number;
  /** Pages of 1 GiB. */
  hugepages: number;
}

export interface PciRoot {
  name: string;
  numaNode: number;
  children: PciNode[];
}

export interface PciNode {
  address: string;
  id: string;
  pciClass: string;
  driver?: string;
  iommuGroup?: number;
  children?: PciNode[];
  sriov?: { total: number; functions: PciNode[] };
  rdma?: { name: string; linkLayer: string; state: string; rate: string };
  nvme?: NvmeDisk;
  /** The first bytes of the configuration space. */
  config?: Buffer;
}

export interface NvmeDisk {
  /** As this boot calls it, such as `nvme3`. */
  name: string;
  serial: string;
  wwid: string;
  model: string;
  sizeBytes: number;
  /** `major:minor` of the real device behind it. */
  number?: string;
  /** On the whole disk. */
  filesystem?: string;
  partitions?: Partition[];
}

export interface Partition {
  filesystem?: string;
  mountPoint?: string;
  efi?: boolean;
  swap?: boolean;
  /** An md or dm device on top, and where that is mounted. */
  holder?: { name: string; mountPoint?: string };
}

/** Every device of the machine, virtual functions among them. */
export function allNodes({ roots }: HostTree): PciNode[] {
  return roots.flatMap(({ children }) => allBelow(children));
}

function allBelow(nodes: readonly PciNode[]): PciNode[] {
  return nodes.flatMap((node) => [node, ...allBelow(node.children ?? []), ...(node.sriov?.functions ?? [])]);
}
