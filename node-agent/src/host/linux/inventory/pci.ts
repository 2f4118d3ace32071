import type { HostFiles } from '../host-files.ts';
import { pciSerialNumber } from './pci-serial.ts';
import { EXTRA_DEVICES, knownDevice, parseExtraDevices, type KnownDevice } from './pci-ids.ts';

export interface PciDevice {
  address: string;
  /** `vendor:device`, hexadecimal. */
  id: string;
  known: KnownDevice | null;
  /** Class, subclass and interface, such as `030200`. */
  pciClass: string;
  /** 0 for a host that does not report NUMA nodes. */
  numaNode: number;
  driver: string | null;
  /** From the root complex to the device's own parent, such as `pci0000:15`, `0000:15:01.0`. */
  path: string[];
  iommuGroup: number | null;
  sriovTotal: number;
  virtualFunctions: string[];
  physicalFunction: string | null;
  /** The same in another host; null for a card without one. */
  serial: string | null;
}

const DEVICES = '/sys/bus/pci/devices';

export function readPciDevices(files: HostFiles): PciDevice[] {
  const extra = parseExtraDevices(files.text(EXTRA_DEVICES) ?? '');
  return files.list(DEVICES).map((address) => readDevice(files, address, extra));
}

function readDevice(files: HostFiles, address: string, extra: ReadonlyMap<string, KnownDevice>): PciDevice {
  const at = `${DEVICES}/${address}`;
  const id = `${hex(files.text(`${at}/vendor`))}:${hex(files.text(`${at}/device`))}`;
  const group = files.linkName(`${at}/iommu_group`);
  return {
    address,
    id,
    known: extra.get(id) ?? knownDevice(id),
    pciClass: hex(files.text(`${at}/class`)),
    numaNode: Math.max(0, files.integer(`${at}/numa_node`) ?? 0),
    driver: files.linkName(`${at}/driver`),
    path: pathOf(files, at),
    iommuGroup: group === null ? null : Number(group),
    sriovTotal: files.integer(`${at}/sriov_totalvfs`) ?? 0,
    virtualFunctions: virtualFunctions(files, at),
    physicalFunction: files.linkName(`${at}/physfn`),
    serial: pciSerialNumber(files.bytes(`${at}/config`, 4096)),
  };
}

/**
 * The flat list consists of links into the tree of buses; only the tree shows which devices share a bridge.
 */
function pathOf(files: HostFiles, at: string): string[] {
  const real = files.real(at) ?? '';
  const parts = real.split('/').filter((part) => /^(pci)?[0-9a-f]{4,8}:/.test(part));
  return parts.slice(0, -1);
}

function virtualFunctions(files: HostFiles, at: string): string[] {
  const links = files.list(at).filter((name) => /^virtfn\d+$/.test(name));
  return links
    .toSorted((a, b) => Number(a.slice(6)) - Number(b.slice(6)))
    .flatMap((name) => files.linkName(`${at}/${name}`) ?? []);
}

function hex(text: string | null): string {
  return (text ?? '').replace(/^0x/, '').toLowerCase();
}

export function isBridge(device: PciDevice): boolean {
  return device.pciClass.startsWith('06');
}

/** Devices that would have to follow into the VM: not bridges, and not the device's own audio function. */
export function otherDevicesInGroup(
  files: HostFiles,
  device: PciDevice,
  all: ReadonlyMap<string, PciDevice>,
): string[] {
  if (device.iommuGroup === null) return [];
  return files.list(`/sys/kernel/iommu_groups/${device.iommuGroup}/devices`).filter((address) => {
    if (address === device.address) return false;
    const other = all.get(address);
    if (!other) return true;
    const sameCard = address.slice(0, -1) === device.address.slice(0, -1);
    return !isBridge(other) && !(sameCard && other.pciClass.startsWith('0403'));
  });
}
