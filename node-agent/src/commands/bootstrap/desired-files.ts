import { createHash } from 'node:crypto';
import { HIDDEN_TYPE } from '../../host/linux/inventory/disk-use.ts';
import { dhcpPaths, dnsmasqConfig } from '../../host/linux/network/dhcp.ts';
import { STANDARD_MTU, type NetworkProfile } from '../../host/linux/network/profiles.ts';

/** Settings of a slice host that differ from host to host. */
export interface HostProfile {
  hugepagesGib: number;
  bridge: string;
  /** The host's own address on the bridge: the slices' way out. */
  gateway: string;
  /** `vendor:device` ids that vfio-pci must claim from boot. */
  vfioIds: readonly string[];
  /** InfiniBand interfaces of the host itself. */
  ipoib: readonly string[];
  /** Whether it has InfiniBand adapters, including adapters without an interface yet. */
  infiniband: boolean;
  processor: 'intel' | 'amd';
  /** Serial numbers of the NVMe disks that the host itself uses: its arrays, volume groups and mounts stay. */
  hostDisks: readonly string[];
  network: NetworkProfile;
}

export interface DesiredFile {
  path: string;
  content: string;
  why: string;
  /** Commands that apply the change, in order. */
  afterwards: readonly (readonly string[])[];
  /** Acts only with the next boot. */
  needsReboot: boolean;
}

const STATE = '/var/lib/gpuaas';
export const DHCP_UNIT = 'gpuaas-dhcp.service';

/** Only our own files: files that an administrator wrote elsewhere are left alone. */
export function desiredFiles(profile: HostProfile): DesiredFile[] {
  const { bridge, gateway, vfioIds, ipoib, infiniband, network } = profile;
  const vfio = ['vfio', 'vfio_iommu_type1', 'vfio_pci'];
  // The kernel's driver names functions in the fabric through the adapter's interface.
  const modules = [...vfio, ...(infiniband ? ['ib_ipoib'] : [])];
  return [
    {
      path: '/etc/default/grub.d/60-gpuaas.cfg',
      content: `GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT ${kernelArguments(profile).join(' ')}"\n`,
      why: 'the IOMMU, and memory set aside for guests',
      afterwards: [['update-grub']],
      needsReboot: true,
    },
    {
      path: '/etc/modules-load.d/gpuaas.conf',
      content: `${modules.join('\n')}\n`,
      why: `vfio-pci${infiniband ? ' and interfaces of InfiniBand adapters' : ''} at every boot`,
      afterwards: [['modprobe', '--all', 'vfio-pci', ...(infiniband ? ['ib_ipoib'] : [])]],
      needsReboot: false,
    },
    ...(vfioIds.length === 0
      ? []
      : [
          {
            path: '/etc/modprobe.d/gpuaas-vfio.conf',
            content: `options vfio-pci ids=${vfioIds.join(',')}\nsoftdep nvidia pre: vfio-pci\nsoftdep nouveau pre: vfio-pci\n`,
            why: 'GPUs and fabric functions go to vfio-pci before any other driver',
            afterwards: [['update-initramfs', '-u']],
            needsReboot: true,
          },
        ]),
    {
      path: '/etc/udev/rules.d/62-gpuaas-slot-disks.rules',
      content: slotDiskRules(profile.hostDisks),
      why: 'the host assembles no array and no volume group from what a tenant wrote on a slot’s disk',
      afterwards: [['udevadm', 'control', '--reload']],
      needsReboot: false,
    },
    {
      path: '/etc/sysctl.d/60-gpuaas.conf',
      content: sysctls({ 'net.ipv4.ip_forward': '1', ...network.hostSysctls }),
      why: 'slices reach out through the host, tuned by its network profile',
      afterwards: [['sysctl', '--load', '/etc/sysctl.d/60-gpuaas.conf']],
      needsReboot: false,
    },
    ...(ipoib.length === 0
      ? []
      : [
          {
            path: '/etc/netplan/60-ipoib.yaml',
            content: ipoibPlan(ipoib),
            why: 'the fabric of the host itself, apart from the management network',
            afterwards: [['netplan', 'apply']],
            needsReboot: false,
          },
        ]),
    {
      path: '/etc/systemd/system/libvirt-guests.service.d/60-gpuaas.conf',
      content: '[Service]\nExecStart=\nExecStart=/bin/true\n',
      why: 'machines are started by the agent alone, behind their guards; a shutdown of the host still asks them to end',
      afterwards: [['systemctl', 'daemon-reload']],
      needsReboot: false,
    },
    {
      path: dhcpPaths(STATE).config,
      content: dnsmasqConfig(STATE, bridge, gateway, network.mtu),
      why: 'addresses for slices by reservation only',
      afterwards: [],
      needsReboot: false,
    },
    {
      path: `/etc/systemd/system/${DHCP_UNIT}`,
      content: dhcpUnit(bridge, gateway, network.mtu, dnsmasqConfig(STATE, bridge, gateway, network.mtu)),
      why: 'serves them',
      afterwards: [
        ['systemctl', 'daemon-reload'],
        ['systemctl', 'enable', DHCP_UNIT],
        // A running service keeps the configuration it was started with.
        ['systemctl', 'restart', DHCP_UNIT],
      ],
      needsReboot: false,
    },
  ];
}

export function kernelArguments({ processor, hugepagesGib }: HostProfile): string[] {
  return [
    ...(processor === 'intel' ? ['intel_iommu=on'] : []),
    'iommu=pt',
    ...(hugepagesGib > 0 ? ['default_hugepagesz=2M', 'hugepagesz=1G', `hugepages=${hugepagesGib}`] : []),
  ];
}

/**
 * Between the rules that probe a disk (60) and those that assemble md (64) and LVM (69). Both skip a device without a
 * member's type; the type stays readable for the agent.
 */
function slotDiskRules(hostDisks: readonly string[]): string {
  const skip = hostDisks.map((serial) => `ENV{ID_SERIAL_SHORT}=="${serial}", GOTO="gpuaas_end"`);
  return [
    'SUBSYSTEM!="block", GOTO="gpuaas_end"',
    'KERNEL!="nvme*", GOTO="gpuaas_end"',
    ...skip,
    `ENV{ID_FS_TYPE}=="*_member", ENV{${HIDDEN_TYPE}}="$env{ID_FS_TYPE}", ENV{ID_FS_TYPE}=""`,
    'LABEL="gpuaas_end"',
    '',
  ].join('\n');
}

function ipoibPlan(interfaces: readonly string[]): string {
  const entries = interfaces.flatMap((name) => [
    `    ${name}:`,
    '      infiniband-mode: datagram',
    '      optional: true',
    '      link-local: []',
  ]);
  return ['network:', '  version: 2', '  ethernets:', ...entries, ''].join('\n');
}

function sysctls(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('');
}

/** It carries the digest of its configuration, so that a change of that is a change of the unit, which restarts it. */
function dhcpUnit(bridge: string, gateway: string, mtu: number, configuration: string): string {
  const { config } = dhcpPaths(STATE);
  return `[Unit]
Description=Addresses of GPUaaS slices
X-Configuration=${createHash('sha256').update(configuration).digest('hex').slice(0, 16)}
After=openvswitch-switch.service
Requires=openvswitch-switch.service

[Service]
Type=exec
ExecStartPre=ip address replace ${gateway}/24 dev ${bridge}
ExecStartPre=ip link set ${bridge} up
${mtu === STANDARD_MTU ? '' : `ExecStartPre=ovs-vsctl set interface ${bridge} mtu_request=${mtu}\n`}ExecStartPre=touch ${dhcpPaths(STATE).hosts}
ExecStartPre=+chmod 0711 ${STATE} ${dhcpPaths(STATE).folder}
ExecStartPre=chmod 0644 ${dhcpPaths(STATE).hosts}
ExecStart=dnsmasq --keep-in-foreground --conf-file=${config}
Restart=always
RestartSec=2
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=${dhcpPaths(STATE).folder}
ProtectHome=yes
CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_RAW CAP_NET_BIND_SERVICE CAP_DAC_OVERRIDE CAP_SETUID CAP_SETGID CAP_CHOWN

[Install]
WantedBy=multi-user.target
`;
}
