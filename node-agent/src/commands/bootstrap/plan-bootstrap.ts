import { readFabrics } from '../../host/linux/inventory/fabrics.ts';
import type { RunCommand } from '../../host/linux/commands.ts';
import type { HostFiles } from '../../host/linux/host-files.ts';
import { readHostDevices, readOvsBridges, type HostDevices } from '../../host/linux/inventory/inventory.ts';
import { NETWORK_PROFILES, type NetworkProfileName } from '../../host/linux/network/profiles.ts';
import { readProcessors } from '../../host/linux/inventory/processors.ts';
import { suggestAddresses } from '../../host/suggest-addresses.ts';
import { kernelArguments, desiredFiles, type HostProfile, type DesiredFile } from './desired-files.ts';
import { readUnfinishedFiles } from './unfinished.ts';

/** One deviation of the host, and the commands or the file that correct it. */
export interface BootstrapChange {
  what: string;
  file: DesiredFile | null;
  commands: readonly (readonly string[])[];
}

export interface BootstrapPlan {
  changes: BootstrapChange[];
  inPlace: string[];
  /** Why the host has to be booted again; empty when it has not. */
  rebootReasons: string[];
}

export interface BootstrapOptions {
  hostname: string;
  bridge: string;
  hugepagesGib: number;
  networkProfile: NetworkProfileName;
}

const PACKAGES = [
  'qemu-system-x86',
  'qemu-utils',
  'ovmf',
  'libvirt-daemon-system',
  'libvirt-clients',
  'openvswitch-switch',
  'dnsmasq-base',
  'dnsmasq-utils',
  'nftables',
  'cloud-image-utils',
  'nvme-cli',
  'ibverbs-utils',
  'infiniband-diags',
];

const VIRSH = ['virsh', '--quiet', '--connect', 'qemu:///system'];
const LIBVIRT_NETWORK = 'default';

/**
 * Compares the host with the requirements of slices, without changing it. Changes are listed in the order to
 * apply them.
 */
export async function planBootstrap(
  files: HostFiles,
  run: RunCommand,
  options: BootstrapOptions,
): Promise<BootstrapPlan> {
  const devices = await readHostDevices(files, run);
  const profile = profileOf(files, devices, options);
  const changes: BootstrapChange[] = [];
  const inPlace: string[] = [];

  const missing = await missingPackages(run);
  if (missing.length === 0) inPlace.push(`${PACKAGES.length} packages`);
  else {
    const install = ['apt-get', 'install', '--yes', '--no-install-recommends', ...missing];
    changes.push({ what: `install ${missing.join(', ')}`, file: null, commands: [install] });
  }
  const { bridge } = options;
  if ((await readOvsBridges(run)).includes(bridge)) inPlace.push(`bridge ${bridge}`);
  else
    changes.push({
      what: `make the bridge ${bridge}`,
      file: null,
      commands: [['ovs-vsctl', '--may-exist', 'add-br', bridge]],
    });

  const commands = await libvirtNetworkOff(run);
  if (commands.length > 0)
    changes.push({
      what: 'switch off the network that libvirt brings: a machine on it would be behind no guard',
      file: null,
      commands,
    });
  else inPlace.push('no network of libvirt');

  const unfinished = readUnfinishedFiles(files);
  for (const file of desiredFiles(profile)) {
    const done = files.text(file.path) === file.content.trim() && !unfinished.has(file.path);
    if (done) inPlace.push(file.path);
    else changes.push({ what: `write ${file.path}: ${file.why}`, file, commands: file.afterwards });
  }
  return { changes, inPlace, rebootReasons: rebootReasons(files, devices, profile, changes) };
}

function profileOf(
  files: HostFiles,
  { disks, gpus, pci }: HostDevices,
  options: BootstrapOptions,
): HostProfile {
  const functions = readFabrics(files, pci).flatMap((fabric) =>
    fabric.functions.map(({ device }) => device.id),
  );
  const sold = gpus.map(({ device }) => device).filter(({ known }) => known?.role === 'gpu');
  return {
    hugepagesGib: options.hugepagesGib,
    bridge: options.bridge,
    gateway: suggestAddresses(options.hostname)(0).private_ip.replace(/\.\d+$/, '.1'),
    vfioIds: [...new Set([...sold.map(({ id }) => id), ...functions])].toSorted(),
    ipoib: readFabrics(files, pci)
      .filter(({ linkLayer }) => linkLayer === 'InfiniBand')
      .flatMap(({ pf }) => files.list(`/sys/bus/pci/devices/${pf.address}/net`)),
    infiniband: readFabrics(files, pci).some(({ pf }) => pf.pciClass.startsWith('0207')),
    network: NETWORK_PROFILES[options.networkProfile],
    hostDisks: disks
      .filter(({ use }) => use.bootReason !== null || use.mounts.length > 0 || use.holders.length > 0)
      .flatMap(({ serial }) => serial ?? [])
      .toSorted(),
    processor: /amd|epyc/i.test(readProcessors(files).model) ? 'amd' : 'intel',
  };
}

/** Checks both states: an interrupted run may have left the network running or set to start at boot. */
async function libvirtNetworkOff(run: RunCommand): Promise<string[][]> {
  const isListed = async (...which: string[]): Promise<boolean> => {
    const result = await run('virsh', [...VIRSH.slice(1), 'net-list', ...which, '--name']);
    return (result?.stdout ?? '').split('\n').includes(LIBVIRT_NETWORK);
  };
  return [
    ...((await isListed('--all', '--autostart'))
      ? [[...VIRSH, 'net-autostart', '--disable', LIBVIRT_NETWORK]]
      : []),
    ...((await isListed()) ? [[...VIRSH, 'net-destroy', LIBVIRT_NETWORK]] : []),
  ];
}

async function missingPackages(run: RunCommand): Promise<string[]> {
  const format = '${Package} ${db:Status-Status}\\n';
  const result = await run('dpkg-query', ['--show', `--showformat=${format}`, ...PACKAGES]);
  const installed = new Set(
    (result?.stdout ?? '').split('\n').flatMap((line) => /^(\S+) installed$/.exec(line)?.[1] ?? []),
  );
  return PACKAGES.filter((name) => !installed.has(name));
}

/** Judged by the running kernel, so that a host that was not rebooted still reports it. */
function rebootReasons(
  files: HostFiles,
  { gpus }: HostDevices,
  profile: HostProfile,
  changes: readonly BootstrapChange[],
): string[] {
  const line = new Set((files.text('/proc/cmdline') ?? '').split(/\s+/));
  const absent = kernelArguments(profile).filter((argument) => !line.has(argument));
  const unbound = gpus.filter(({ device }) => device.known?.role === 'gpu' && device.driver !== 'vfio-pci');
  return [
    ...(absent.length > 0 ? [`the kernel runs without ${absent.join(' ')}`] : []),
    ...(unbound.length > 0 ? [`${unbound.length} GPUs are not bound to vfio-pci`] : []),
    ...changes
      .filter(({ file }) => file?.needsReboot)
      .map(({ file }) => `${file?.path} acts with the next boot`),
    ...(files.exists('/run/reboot-required') ? ['packages ask for it'] : []),
  ];
}
