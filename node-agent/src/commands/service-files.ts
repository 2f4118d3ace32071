import { join } from 'node:path';

/** Where an installed agent lives, below a root that tests replace. */
export interface ServicePaths {
  unit: string;
  environment: string;
  state: string;
  images: string;
  token: string;
}

export function servicePaths(root: string): ServicePaths {
  return {
    unit: join(root, 'etc/systemd/system/gpuaas-node-agent.service'),
    environment: join(root, 'etc/gpuaas/node-agent.env'),
    state: join(root, 'var/lib/gpuaas'),
    images: join(root, 'var/lib/gpuaas/images'),
    token: join(root, 'var/lib/gpuaas/enrolment-token'),
  };
}

export const SERVICE = 'gpuaas-node-agent.service';

export function environmentFile(settings: { server: string; hostname: string }): string {
  return [
    '# Settings of the GPUaaS node agent. The enrolment token is not one of them: it lies in the state folder.',
    `GPUAAS_AGENT_SERVER=${settings.server}`,
    `GPUAAS_AGENT_HOSTNAME=${settings.hostname}`,
    'GPUAAS_AGENT_DIR=/var/lib/gpuaas',
    'GPUAAS_AGENT_HOST=linux',
    '',
  ].join('\n');
}

/** Capabilities of the agent's service, with their reasons. The service can do nothing outside this list. */
export const CAPABILITIES = {
  CAP_SYS_ADMIN:
    'NVMe admin commands (format, sanitize), System V objects of a tenant, all of a PCI device’s registers',
  CAP_NET_ADMIN: 'addresses, rules of nftables',
  CAP_NET_RAW: 'giving a lease back in the name of a guest (`dhcp_release`)',
  CAP_DAC_OVERRIDE: 'logins in `/etc`, files of tenants',
  CAP_DAC_READ_SEARCH: 'searching the host for what a tenant left',
  CAP_CHOWN: 'the home of a tenant',
  CAP_FOWNER: 'who may enter the home of a tenant',
  CAP_KILL: 'ending what a tenant runs',
  CAP_SYS_PTRACE: 'who has a disk or a GPU open',
  CAP_SETUID: 'what is done as a user: keys in its home, `crontab`',
  CAP_SETGID: 'what is done as a user: keys in its home, `crontab`',
  CAP_AUDIT_WRITE: 'the audit log of `useradd` and `userdel`',
} as const;

/**
 * The agent needs root for devices, libvirt and Open vSwitch. It sees all files of the host, because a tenant
 * of the whole host may leave files anywhere; everything it does not need is taken away. Devices change
 * drivers through `/sys`, so kernel tunables stay writable; modules are loaded at boot, outside this service.
 * Node compiles code at run time, so memory may be writable and executable. VMs belong to libvirt, not to
 * this service: stopping it ends only the agent. QEMU passes through the state folder to its seed but cannot
 * list it.
 */
export function unitFile(command: readonly string[]): string {
  return `[Unit]
Description=GPUaaS node agent
Wants=network-online.target
After=network-online.target openvswitch-switch.service gpuaas-dhcp.service libvirtd.service virtqemud.service
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${command.map(unitWord).join(' ')}
EnvironmentFile=/etc/gpuaas/node-agent.env
Restart=always
RestartSec=5
KillMode=process
TimeoutStopSec=30
UMask=0077
StateDirectory=gpuaas
StateDirectoryMode=0711

NoNewPrivileges=yes
ProtectSystem=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RestrictNamespaces=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=~@module @reboot @swap @obsolete @raw-io @cpu-emulation
SystemCallErrorNumber=EPERM
CapabilityBoundingSet=${Object.keys(CAPABILITIES).join(' ')}

[Install]
WantedBy=multi-user.target
`;
}

/** A word of a command line as systemd parses it: no variables, no specifiers, spaces kept. */
function unitWord(word: string): string {
  if (/^[\w@+=:,./-]+$/.test(word)) return word;
  return `"${word
    .replaceAll(/["\\]/g, String.raw`\$&`)
    .replaceAll('%', '%%')
    .replaceAll('$', '$$$$')}"`;
}
