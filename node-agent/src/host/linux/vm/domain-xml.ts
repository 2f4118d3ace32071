import { STANDARD_MTU } from '../network/profiles.ts';

/** Everything libvirt needs to define a machine; nothing in here is looked up. */
export interface DomainFacts {
  name: string;
  uuid: string;
  planDigest: string;
  accelerator: 'kvm' | 'tcg';
  firmware: 'uefi' | 'bios';
  vcpu: number;
  memoryGib: number;
  /** CPUs and memory nodes for the machine; null lets the host decide. */
  locality: Locality | null;
  /** Memory of 1 GiB pages that were set aside. */
  hugepages: boolean;
  /** The first one carries the image. */
  disks: readonly { node: string; serial: string }[];
  seedIso: string;
  consoleLog: string;
  network: {
    bridge: string;
    port: string;
    mac: string;
    interfaceId: string;
    offloads: boolean;
    mtu: number;
    queues: number;
  };
  /** PCI addresses of GPUs and fabric functions, in the order the guest shall see them. */
  passthrough: readonly string[];
}

export interface Locality {
  numaNodes: readonly number[];
  /** One processor of the host for each vCPU. */
  pins: readonly number[];
}

/** The machine as libvirt reads it: no VNC, no USB, no emulated sound, one console that goes into a file. */
export function domainXml(facts: DomainFacts): string {
  return `${element('domain', { type: facts.accelerator === 'kvm' ? 'kvm' : 'qemu' }, [
    element('name', {}, facts.name),
    element('uuid', {}, facts.uuid),
    element('metadata', {}, [
      element('gpuaas:machine', { 'xmlns:gpuaas': 'urn:gpuaas:machine', plan: facts.planDigest }),
    ]),
    element('memory', { unit: 'GiB' }, String(facts.memoryGib)),
    ...memoryBacking(facts),
    element('vcpu', { placement: 'static' }, String(facts.vcpu)),
    ...tuning(facts.locality),
    firmware(facts),
    element('features', {}, [element('acpi'), element('apic')]),
    processor(facts),
    element('clock', { offset: 'utc' }),
    element('on_poweroff', {}, 'destroy'),
    element('on_reboot', {}, 'restart'),
    element('on_crash', {}, 'destroy'),
    element('devices', {}, devices(facts)),
  ])}\n`;
}

function memoryBacking({ hugepages, passthrough }: DomainFacts): string[] {
  const parts = [
    ...(hugepages ? [element('hugepages', {}, [element('page', { size: '1', unit: 'GiB' })])] : []),
    // Memory that devices write into must not move.
    ...(passthrough.length > 0 ? [element('locked')] : []),
  ];
  return parts.length > 0 ? [element('memoryBacking', {}, parts)] : [];
}

function tuning(locality: Locality | null): string[] {
  if (!locality) return [];
  const pins = locality.pins.map((cpu, vcpu) =>
    element('vcpupin', { vcpu: String(vcpu), cpuset: String(cpu) }),
  );
  const nodeset = locality.numaNodes.join(',');
  return [
    element('cputune', {}, [
      ...pins,
      element('emulatorpin', { cpuset: [...new Set(locality.pins)].join(',') }),
    ]),
    element('numatune', {}, [element('memory', { mode: 'strict', nodeset })]),
  ];
}

function firmware({ firmware: kind }: DomainFacts): string {
  const type = element('type', { arch: 'x86_64', machine: 'q35' }, 'hvm');
  const boot = element('boot', { dev: 'hd' });
  if (kind === 'bios') return element('os', {}, [type, boot]);
  // Guests load unsigned drivers.
  const unsigned = element('feature', { enabled: 'no', name: 'secure-boot' });
  return element('os', { firmware: 'efi' }, [type, element('firmware', {}, [unsigned]), boot]);
}

function processor({ accelerator }: DomainFacts): string {
  if (accelerator === 'tcg') return element('cpu', { mode: 'maximum' });
  // The windows of large GPUs need all the address bits that the host has.
  return element('cpu', { mode: 'host-passthrough', check: 'none' }, [
    element('maxphysaddr', { mode: 'passthrough' }),
  ]);
}

function devices(facts: DomainFacts): string[] {
  return [
    element('emulator', {}, '/usr/bin/qemu-system-x86_64'),
    ...facts.disks.map(({ node, serial }, index) =>
      element('disk', { type: 'block', device: 'disk' }, [
        element('driver', { name: 'qemu', type: 'raw', cache: 'none', io: 'native', discard: 'unmap' }),
        element('source', { dev: node }),
        element('target', { dev: `vd${letter(index)}`, bus: 'virtio' }),
        element('serial', {}, serial.slice(0, 20)),
      ]),
    ),
    element('disk', { type: 'file', device: 'disk' }, [
      element('driver', { name: 'qemu', type: 'raw' }),
      element('source', { file: facts.seedIso }),
      element('target', { dev: `vd${letter(facts.disks.length)}`, bus: 'virtio' }),
      element('readonly'),
    ]),
    vnic(facts.network),
    ...facts.passthrough.map(hostDevice),
    element('serial', { type: 'file' }, [
      // The agent shortens the log in place, so the hypervisor must write at its end.
      element('source', { path: facts.consoleLog, append: 'on' }),
      element('target', { port: '0' }),
    ]),
    element('controller', { type: 'usb', model: 'none' }),
    element('rng', { model: 'virtio' }, [element('backend', { model: 'random' }, '/dev/urandom')]),
    element('memballoon', { model: 'none' }),
  ];
}

function vnic({ bridge, port, mac, interfaceId, offloads, mtu, queues }: DomainFacts['network']): string {
  const off = { csum: 'off', tso4: 'off', tso6: 'off', ecn: 'off', ufo: 'off' };
  // A userspace datapath forwards unfinished checksums.
  const driver = element('driver', { name: 'qemu' }, [
    element('host', { gso: 'off', ...off }),
    element('guest', off),
  ]);
  const manyQueues = queues > 1 ? [element('driver', { name: 'vhost', queues: String(queues) })] : [];
  return element('interface', { type: 'bridge' }, [
    element('mac', { address: mac }),
    element('source', { bridge }),
    element('virtualport', { type: 'openvswitch' }, [element('parameters', { interfaceid: interfaceId })]),
    element('target', { dev: port }),
    element('model', { type: 'virtio' }),
    ...(offloads ? manyQueues : [driver]),
    ...(mtu === STANDARD_MTU ? [] : [element('mtu', { size: String(mtu) })]),
    element('rom', { enabled: 'no' }),
  ]);
}

/** The device stays with vfio-pci before and after, so libvirt has nothing to rebind. */
function hostDevice(address: string): string {
  const [domain = '', bus = '', slot = '', fn = ''] = address.split(/[:.]/);
  const source = { domain: `0x${domain}`, bus: `0x${bus}`, slot: `0x${slot}`, function: `0x${fn}` };
  return element('hostdev', { mode: 'subsystem', type: 'pci', managed: 'no' }, [
    element('source', {}, [element('address', source)]),
  ]);
}

function letter(index: number): string {
  return String.fromCharCode('a'.charCodeAt(0) + index);
}

function element(
  name: string,
  attributes: Record<string, string> = {},
  content: string | string[] = [],
): string {
  const open = [name, ...Object.entries(attributes).map(([key, value]) => `${key}='${escape(value)}'`)].join(
    ' ',
  );
  if (typeof content === 'string') return `<${open}>${escape(content)}</${name}>`;
  if (content.length === 0) return `<${open}/>`;
  const inner = content.flatMap((child) => child.split('\n')).map((line) => `  ${line}`);
  return [`<${open}>`, ...inner, `</${name}>`].join('\n');
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll("'", '&apos;');
}
