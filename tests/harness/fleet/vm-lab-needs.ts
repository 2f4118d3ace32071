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
  nvme: 'nvme-cli',
  setpriv: 'util-linux',
  perl: 'perl-base',
  'systemd-analyze': 'systemd',
  scmp_sys_resolver: 'seccomp',
  sudo: 'sudo',
  visudo: 'sudo',
  mmdebstrap: 'mmdebstrap',
  '/usr/share/OVMF/OVMF_CODE_4M.fd': 'ovmf',
  '/usr/lib/systemd/boot/efi/systemd-bootx64.efi': 'systemd-boot-efi',
  unshare: 'util-linux',
};

/** Needed only for complete system images. */
const FOR_WHOLE_SYSTEMS = [
  'mmdebstrap',
  '/usr/share/OVMF/OVMF_CODE_4M.fd',
  '/usr/lib/systemd/boot/efi/systemd-bootx64.efi',
];

/** Why real machines cannot be run here; null where they can. */
export function whyNoVmLab(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'needs Linux on x86-64';
  if (process.getuid?.() !== 0) return 'needs root';
  if (!isThere('apt-get')) return 'needs Debian';
  const missing = lacking(Object.keys(TOOLS).filter((tool) => !FOR_WHOLE_SYSTEMS.includes(tool)));
  if (missing) return missing;
  return isThere('/dev/loop-control') && isThere('/dev/net/tun') ? null : 'needs loop devices and taps';
}

/** Why no image of a whole system can be built and run here; null where one can. */
export function whyNoWholeSystem(): string | null {
  return whyNoVmLab() ?? lacking(FOR_WHOLE_SYSTEMS);
}

/** Why nothing can be run with the powers of the agent's service here; null where it can. */
export function whyNoServicePowers(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'needs Linux on x86-64';
  if (process.getuid?.() !== 0) return 'needs root';
  return lacking(['setpriv', 'perl', 'systemd-analyze', 'scmp_sys_resolver']);
}

/** Why no node can be emulated here; null where one can. */
export function whyNoEmulatedNode(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'needs Linux on x86-64';
  if (!isThere('apt-get')) return 'needs Debian';
  return lacking(['qemu-system-x86_64', 'busybox', 'cpio', 'nvme']);
}

function lacking(tools: readonly string[]): string | null {
  const missing = tools.filter((tool) => !isThere(tool));
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
