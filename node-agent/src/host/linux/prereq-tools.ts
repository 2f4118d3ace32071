import type { PrereqDemand } from '../host.ts';
import { missing, ok, unknown, type Finding } from '../prereq-report.ts';
import type { RunCommand } from './commands.ts';
import type { HostFiles } from './host-files.ts';

const TOOL_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
const DEFAULT_BRIDGE = 'ovsbr0';

export async function checkOvs(run: RunCommand, demand: PrereqDemand): Promise<Finding> {
  const bridge = demand.ovs_bridge ?? DEFAULT_BRIDGE;
  const result = await run('ovs-vsctl', ['--timeout=5', 'list-br']);
  if (result === null)
    return missing('ovs-vsctl is not installed', 'Install the package openvswitch-switch.');
  if (result.code !== 0) {
    return unknown(
      `ovs-vsctl failed: ${firstLine(result.stderr) || `code ${result.code}`}`,
      'Start the service openvswitch-switch and look at its log.',
    );
  }
  const bridges = result.stdout.split('\n').filter((name) => name !== '');
  return bridges.includes(bridge)
    ? ok(`bridge ${bridge} is there`)
    : missing(
        `there is no bridge ${bridge} (found: ${bridges.join(', ') || 'none'})`,
        `Make it with "ovs-vsctl add-br ${bridge}" and add the uplink of the management network.`,
      );
}

export async function checkLibvirt(files: HostFiles, run: RunCommand): Promise<Finding> {
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
      'Start the service libvirtd (virtqemud) and look at its log.',
    );
  }
  if (!files.exists('/dev/kvm')) {
    return missing(
      'libvirt answers, but there is no /dev/kvm',
      'Enable virtualisation in the firmware and load the module kvm_intel or kvm_amd.',
    );
  }
  const version = /hypervisor:\s*(.+)/i.exec(result.stdout)?.[1] ?? 'QEMU';
  return ok(`libvirt answers (${version.trim()}), /dev/kvm is there`);
}

export function checkCloudInitTools(files: HostFiles): Finding {
  return checkTools(
    files,
    ['qemu-img', 'cloud-localds'],
    'Install the packages qemu-utils and cloud-image-utils.',
  );
}

export function checkRdmaTools(files: HostFiles): Finding {
  return checkTools(
    files,
    ['rdma', 'ibv_devinfo', 'ibstat'],
    'Install the packages iproute2, ibverbs-utils and infiniband-diags.',
  );
}

function checkTools(files: HostFiles, tools: readonly string[], remedy: string): Finding {
  const found = tools.map((tool) => TOOL_FOLDERS.map((folder) => `${folder}/${tool}`).find(files.exists));
  const absent = tools.filter((_tool, index) => found[index] === undefined);
  return absent.length === 0 ? ok(found.join(', ')) : missing(`not installed: ${absent.join(', ')}`, remedy);
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
