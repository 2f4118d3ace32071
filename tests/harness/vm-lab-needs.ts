import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

const TOOLS: Record<string, string> = {
  'qemu-system-x86_64': 'qemu-system-x86',
  'qemu-img': 'qemu-utils',
  'cloud-localds': 'cloud-image-utils',
  genisoimage: 'genisoimage',
  libvirtd: 'libvirt-daemon-system',
  virsh: 'libvirt-clients',
  'ovs-vswitchd': 'openvswitch-switch',
  dnsmasq: 'dnsmasq-base',
  dhcp_release: 'dnsmasq-utils',
  nft: 'nftables',
  ip: 'iproute2',
  busybox: 'busybox-static',
  dropbear: 'dropbear-bin',
  syslinux: 'syslinux',
  '/usr/lib/syslinux/mbr/mbr.bin': 'syslinux-common',
  mformat: 'mtools',
  sfdisk: 'fdisk',
  cpio: 'cpio',
  unshare: 'util-linux',
};

/** Why real machines cannot be run here; null where they can. */
export function whyNoVmLab(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'needs Linux on x86-64';
  if (process.getuid?.() !== 0) return 'needs root';
  if (!isThere('apt-get')) return 'needs Debian';
  const missing = Object.keys(TOOLS).filter((tool) => !isThere(tool));
  if (missing.length > 0) return `needs ${missing.map((tool) => TOOLS[tool]).join(', ')}`;
  return isThere('/dev/loop-control') && isThere('/dev/net/tun') ? null : 'needs loop devices and taps';
}

/** Why no node can be emulated here; null where one can. */
export function whyNoEmulatedNode(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'needs Linux on x86-64';
  if (!isThere('apt-get')) return 'needs Debian';
  const missing = ['qemu-system-x86_64', 'busybox', 'cpio'].filter((tool) => !isThere(tool));
  return missing.length > 0 ? `needs ${missing.map((tool) => TOOLS[tool]).join(', ')}` : null;
}

function isThere(name: string): boolean {
  const places = name.startsWith('/')
    ? [name]
    : ['/usr/sbin', '/usr/bin', '/sbin', '/bin'].map((f) => join(f, name));
  return places.some((path) => {
    try {
      accessSync(path, name.startsWith('/') ? constants.R_OK : constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
