/**
 * Prepares the machine for `npm test`: as root on Debian it installs missing packages, else it lists the
 * tests that will not run.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, globSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

interface Need {
  debianPackage: string;
  /** A program, or the path of a file. */
  command: string;
  /** Reported as not run without it. */
  usedFor: string;
}

const REAL_MACHINES = 'slices on a real hypervisor';
const SERVICE_POWERS = 'the powers of the agent’s service';
const WHOLE_SYSTEMS = 'images of whole systems';

const needs: readonly Need[] = [
  { debianPackage: 'chromium', command: 'chromium', usedFor: 'the console in a browser' },
  { debianPackage: 'bubblewrap', command: 'bwrap', usedFor: 'shells in simulated machines' },
  { debianPackage: 'nats-server', command: 'nats-server', usedFor: 'events through NATS JetStream' },
  {
    debianPackage: 'postgresql',
    command: 'postgres',
    usedFor: 'a PostgreSQL that is not the embedded one',
  },
  { debianPackage: 'openssh-client', command: 'ssh', usedFor: 'OpenSSH into simulated machines' },
  {
    debianPackage: 'openssh-sftp-server',
    command: 'sftp-server',
    usedFor: 'files copied into simulated machines',
  },
  { debianPackage: 'redis-server', command: 'redis-server', usedFor: 'terminal tokens in Redis' },
  { debianPackage: 'tmux', command: 'tmux', usedFor: 'the command line in a terminal' },
  { debianPackage: 'libsecret-tools', command: 'secret-tool', usedFor: 'sign-ins in a keyring' },
  { debianPackage: 'gnome-keyring', command: 'gnome-keyring-daemon', usedFor: 'sign-ins in a keyring' },
  { debianPackage: 'dbus-daemon', command: 'dbus-run-session', usedFor: 'sign-ins in a keyring' },
  { debianPackage: 'curl', command: 'curl', usedFor: 'the examples of the guides' },
  { debianPackage: 'jq', command: 'jq', usedFor: 'the examples of the guides' },
  { debianPackage: 'qemu-system-x86', command: 'qemu-system-x86_64', usedFor: REAL_MACHINES },
  { debianPackage: 'qemu-utils', command: 'qemu-img', usedFor: REAL_MACHINES },
  { debianPackage: 'cloud-image-utils', command: 'cloud-localds', usedFor: REAL_MACHINES },
  { debianPackage: 'genisoimage', command: 'genisoimage', usedFor: REAL_MACHINES },
  { debianPackage: 'libvirt-daemon-system', command: 'libvirtd', usedFor: REAL_MACHINES },
  { debianPackage: 'libvirt-clients', command: 'virsh', usedFor: REAL_MACHINES },
  { debianPackage: 'openvswitch-switch', command: 'ovs-vswitchd', usedFor: REAL_MACHINES },
  { debianPackage: 'dnsmasq-base', command: 'dnsmasq', usedFor: REAL_MACHINES },
  { debianPackage: 'dnsmasq-utils', command: 'dhcp_release', usedFor: REAL_MACHINES },
  { debianPackage: 'nftables', command: 'nft', usedFor: REAL_MACHINES },
  { debianPackage: 'iproute2', command: 'ip', usedFor: REAL_MACHINES },
  { debianPackage: 'busybox-static', command: 'busybox', usedFor: REAL_MACHINES },
  { debianPackage: 'dropbear-bin', command: 'dropbear', usedFor: REAL_MACHINES },
  { debianPackage: 'syslinux', command: 'syslinux', usedFor: REAL_MACHINES },
  { debianPackage: 'syslinux-common', command: '/usr/lib/syslinux/mbr/mbr.bin', usedFor: REAL_MACHINES },
  { debianPackage: 'mtools', command: 'mformat', usedFor: REAL_MACHINES },
  { debianPackage: 'fdisk', command: 'sfdisk', usedFor: REAL_MACHINES },
  { debianPackage: 'cpio', command: 'cpio', usedFor: REAL_MACHINES },
  { debianPackage: 'nvme-cli', command: 'nvme', usedFor: 'wipes by commands of the drive' },
  { debianPackage: 'docker-registry', command: 'docker-registry', usedFor: 'images in an OCI registry' },
  { debianPackage: 'skopeo', command: 'skopeo', usedFor: 'images copied by skopeo' },
  { debianPackage: 'podman', command: 'podman', usedFor: 'images pushed and pulled by podman' },
  { debianPackage: 'systemd', command: 'systemd-analyze', usedFor: SERVICE_POWERS },
  { debianPackage: 'seccomp', command: 'scmp_sys_resolver', usedFor: SERVICE_POWERS },
  { debianPackage: 'sudo', command: 'visudo', usedFor: 'root on whole hosts' },
  { debianPackage: 'mmdebstrap', command: 'mmdebstrap', usedFor: WHOLE_SYSTEMS },
  { debianPackage: 'ovmf', command: '/usr/share/OVMF/OVMF_CODE_4M.fd', usedFor: WHOLE_SYSTEMS },
  {
    debianPackage: 'systemd-boot-efi',
    command: '/usr/lib/systemd/boot/efi/systemd-bootx64.efi',
    usedFor: WHOLE_SYSTEMS,
  },
  { debianPackage: 'libxml2-utils', command: 'xmllint', usedFor: REAL_MACHINES },
];

const missing = needs.filter(({ command }) => !isInstalled(command));
if (missing.length > 0) {
  const obstacle = whyNotInstallable();
  if (obstacle === null) install(missing);
  report(
    needs.filter(({ command }) => !isInstalled(command)),
    obstacle ?? 'apt-get could not install it',
  );
}

function whyNotInstallable(): string | null {
  if (!isInstalled('apt-get')) return 'this is not Debian';
  return process.getuid?.() === 0 ? null : 'only root can install it';
}

/** One by one: a package this release does not have must not keep the others away. */
function install(wanted: readonly Need[]): void {
  aptGet('update');
  for (const { debianPackage } of wanted)
    aptGet('install', '--yes', '--no-install-recommends', debianPackage);
}

function aptGet(...args: string[]): void {
  const result = spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=300', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (result.status !== 0) console.log(`apt-get ${args.join(' ')} failed`);
}

function report(absent: readonly Need[], reason: string): void {
  for (const { debianPackage, usedFor } of absent) {
    console.log(
      `${debianPackage} is missing (${reason}): tests of ${usedFor} will be reported as not run here`,
    );
  }
}

/** Server packages put their program into sbin, which a plain user's PATH may lack, or a folder per version. */
function isInstalled(command: string): boolean {
  if (isAbsolute(command)) return existsSync(command);
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    '/usr/bin',
    '/usr/sbin',
    '/usr/lib/openssh',
    ...globSync('/usr/lib/postgresql/*/bin'),
  ];
  return folders.some((folder) => isExecutable(join(folder, command)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
