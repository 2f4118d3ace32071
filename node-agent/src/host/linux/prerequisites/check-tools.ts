import { missing, ok, unknown, warning, type PrereqFinding } from '../../prereq-report.ts';
import type { RunCommand } from '../commands.ts';
import type { HostFiles } from '../host-files.ts';
import type { LinuxSettings } from '../settings.ts';

const TOOL_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

export async function checkOvs(run: RunCommand, bridge: string): Promise<PrereqFinding> {
  const result = await run('ovs-vsctl', ['--timeout=5', 'list-br']);
  if (result === null)
    return missing('ovs-vsctl is not installed', 'Install the package openvswitch-switch.');
  if (result.code !== 0) {
    return unknown(
      `ovs-vsctl failed: ${firstLine(result.stderr) || `code ${result.code}`}`,
      'Start the service openvswitch-switch and check its log.',
    );
  }
  const bridges = result.stdout.split('\n').filter((name) => name !== '');
  return bridges.includes(bridge)
    ? ok(`bridge ${bridge} is there`)
    : missing(
        `there is no bridge ${bridge} (found: ${bridges.join(', ') || 'none'})`,
        `Make it with "ovs-vsctl add-br ${bridge}", or run "gpuaas-node-agent bootstrap".`,
      );
}

/** libvirt answers, and the processor really virtualises: a device file alone proves nothing. */
export async function checkLibvirt(
  files: HostFiles,
  run: RunCommand,
  accelerator: LinuxSettings['accelerator'],
): Promise<PrereqFinding> {
  const result = await run('virsh', ['--connect', 'qemu:///system', 'version']);
  if (result === null) {
    return missing(
      'virsh is not installed',
      'Install the packages libvirt-daemon-system, libvirt-clients and qemu-system-x86.',
    );
  }
  if (result.code !== 0) {
    return missing(
      `libvirt does not answer: ${firstLine(result.stderr) || `code ${result.code}`}`,
      'Start the service libvirtd (virtqemud) and check its log.',
    );
  }
  const version = /hypervisor:\s*(.+)/i.exec(result.stdout)?.[1]?.trim() ?? 'QEMU';
  if (accelerator === 'tcg') {
    return warning(
      `libvirt answers (${version}); this host is set to emulate the processor`,
      'Set GPUAAS_LINUX_ACCELERATOR=kvm unless this is a lab.',
    );
  }
  const trouble = files.exists('/dev/kvm') ? await tryKvm(run) : 'there is no /dev/kvm';
  return trouble === null
    ? ok(`libvirt answers (${version}), a machine starts under KVM`)
    : missing(
        `libvirt answers, but KVM does not work: ${trouble}`,
        'Enable virtualisation in the firmware and load the module kvm_intel or kvm_amd.',
      );
}

/** Boots an empty machine to its first instruction and ends it again. */
async function tryKvm(run: RunCommand): Promise<string | null> {
  const machine = ['-machine', 'q35,accel=kvm', '-cpu', 'host', '-m', '64', '-S'];
  const bare = ['-nodefaults', '-no-user-config', '-display', 'none', '-monitor', 'stdio'];
  const options = { input: 'quit\n', timeoutMs: 20_000 };
  const result = await run('qemu-system-x86_64', [...machine, ...bare], options);
  if (result === null) return 'qemu-system-x86_64 is not installed';
  return result.code === 0 ? null : firstLine(result.stderr) || `code ${result.code}`;
}

export function checkCloudInitTools(files: HostFiles): PrereqFinding {
  return checkTools(
    files,
    ['qemu-img', 'cloud-localds'],
    'Install the packages qemu-utils and cloud-image-utils.',
  );
}

export function checkRdmaTools(files: HostFiles): PrereqFinding {
  return checkTools(
    files,
    ['rdma', 'ibv_devinfo', 'ibstat'],
    'Install the packages iproute2, ibverbs-utils and infiniband-diags.',
  );
}

function checkTools(files: HostFiles, tools: readonly string[], remedy: string): PrereqFinding {
  const found = tools.map((tool) => TOOL_FOLDERS.map((folder) => `${folder}/${tool}`).find(files.exists));
  const absent = tools.filter((_tool, index) => found[index] === undefined);
  return absent.length === 0 ? ok(found.join(', ')) : missing(`not installed: ${absent.join(', ')}`, remedy);
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
