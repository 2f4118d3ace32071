import type { SlotBundle } from '@gpuaas/contracts/tasks';
import { compareIngress } from '../../compare-ingress.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import type { DesiredMachine, Finding, SlotsBeingChanged } from '../../host.ts';
import type { RunCommand } from '../commands.ts';
import { dialGuest } from '../guest/dial-guest.ts';
import { resolveDisk } from '../disks/resolve-disk.ts';
import type { HostFiles } from '../host-files.ts';
import { readHostDevices, type HostDevices } from '../inventory/inventory.ts';
import { networkNames, type SliceNetwork } from '../network/slice-network.ts';
import { allocationIdOf, domainName } from './domain.ts';
import type { Libvirt } from './libvirt.ts';
import { machineProcesses } from './machine-processes.ts';

export interface Reconciliation {
  root: string;
  files: HostFiles;
  run: RunCommand;
  libvirt: Libvirt;
  network: SliceNetwork;
  /** Slots of allocations whose machines a task is creating or removing. */
  inHand: () => readonly SlotsBeingChanged[];
}

const SSH_PORT = 22;

/** Compares machines, devices, disks, ports, addresses and guests with the desired state; changes nothing. */
export async function reconcileMachines(
  host: Reconciliation,
  desired: readonly DesiredMachine[],
): Promise<Finding[]> {
  const devices = await readHostDevices(host.files, host.run);
  const found = [...(await findOrphans(host, desired))];
  for (const machine of desired) {
    const { allocation_id } = machine;
    const add = (subject: Finding['subject'], state: Finding['state'], evidence: string): void =>
      void found.push({ subject, state, allocation_id, evidence });
    const state = await host.libvirt.state(domainName(allocation_id));
    if (state === null) add('machine', 'missing', 'libvirt knows no such machine');
    else if (state !== 'running') add('machine', 'wrong', `the machine is ${state}`);
    for (const slot of machine.slots) {
      checkDevices(devices, slot, add);
      await checkDisk(host, devices, slot, allocation_id, add);
    }
    const [boot] = machine.slots;
    if (boot && state === 'running') await checkNetwork(host, boot, add);
    if (boot && machine.ingress) {
      const leading = (await host.network.ingress()).filter(({ ip }) => ip === boot.private_ip);
      found.push(...compareIngress(allocation_id, machine.ingress, leading));
    }
  }
  return found;
}

type Add = (subject: Finding['subject'], state: Finding['state'], evidence: string) => void;

/**
 * Machines and addresses of allocations that the platform does not list, and network entries without a
 * machine. They are reported, never removed.
 */
async function findOrphans(
  { libvirt, network, inHand }: Reconciliation,
  desired: readonly DesiredMachine[],
): Promise<Finding[]> {
  const wanted = new Set(desired.map(({ allocation_id }) => allocation_id));
  const machines = (await libvirt.names()).flatMap((name) => allocationIdOf(name) ?? []);
  const running = machineProcesses().filter(({ allocation_id }) => !machines.includes(allocation_id));
  const ports = await network.ports();
  const unknown = await network.findUnknown();
  const expected = new Set(inHand().flatMap(({ slots }) => slots.flatMap(networkNames)));
  return [
    ...machines
      .filter((id) => !wanted.has(id))
      .map((allocation_id): Finding => {
        return { subject: 'machine', state: 'orphan', allocation_id, evidence: domainName(allocation_id) };
      }),
    ...running.map(({ allocation_id, pid }): Finding => {
      const evidence = `process ${pid} runs a machine that libvirt does not know`;
      return { subject: 'machine', state: 'orphan', allocation_id, evidence };
    }),
    ...ports
      .filter(({ allocation_id }) => !wanted.has(allocation_id))
      .map(({ allocation_id, mac, ip }): Finding => {
        return { subject: 'address', state: 'orphan', allocation_id, evidence: `${mac} ${ip}` };
      }),
    ...unknown
      .filter(({ name }) => !expected.has(name))
      .map(({ subject, evidence }): Finding => {
        return { subject, state: 'orphan', allocation_id: null, evidence: evidence.slice(0, 300) };
      }),
  ];
}

function checkDevices({ gpus, pci }: HostDevices, slot: SlotBundle, add: Add): void {
  const gpu = gpus.find(({ device }) => device.address === slot.gpu_pci_address);
  if (!gpu) add('gpu', 'missing', `there is no GPU at ${slot.gpu_pci_address}`);
  else if (gpu.lost) add('gpu', 'wrong', `${slot.gpu_pci_address} does not answer on the bus`);
  else if (gpu.device.driver !== 'vfio-pci') {
    add('gpu', 'wrong', `${slot.gpu_pci_address} is bound to ${gpu.device.driver ?? 'no driver'}`);
  }
  const vf = pci.get(slot.fabric_vf_pci_address);
  if (!vf) add('fabric', 'missing', `there is no function at ${slot.fabric_vf_pci_address}`);
  else if (vf.driver !== 'vfio-pci')
    add('fabric', 'wrong', `${vf.address} is bound to ${vf.driver ?? 'no driver'}`);
}

async function checkDisk(
  { root, libvirt }: Reconciliation,
  devices: HostDevices,
  slot: SlotBundle,
  allocationId: string,
  add: Add,
): Promise<void> {
  try {
    const disk = resolveDisk(root, devices, slot);
    if (disk.use.mounts.length > 0)
      add('disk', 'wrong', `mounted on ${disk.use.mounts.join(', ')}`.slice(0, 300));
    const users = await libvirt.domainsUsing(disk.numbers);
    const foreign = users.filter((name) => name !== domainName(allocationId));
    if (foreign.length > 0)
      add('disk', 'wrong', `${slot.nvme_serial} is used by ${foreign.join(', ')}`.slice(0, 300));
  } catch (error) {
    if (!(error instanceof TaskError) || error.code !== 'plan_refused') throw error;
    add('disk', 'missing', error.message.slice(0, 300));
  }
}

async function checkNetwork({ network }: Reconciliation, boot: SlotBundle, add: Add): Promise<void> {
  const { management_mac: mac, private_ip: ip, ovs_port } = boot;
  const present = await network.residue([boot]);
  for (const part of [`port ${ovs_port}`, `flows of ${mac}`]) {
    if (!present.includes(part)) add('port', 'missing', part);
  }
  if (!present.includes(`NAT of ${ip}`)) add('address', 'missing', `NAT of ${ip}`);
  const leased = await network.leaseOf(mac);
  if (leased !== ip)
    add('address', leased ? 'wrong' : 'missing', `${mac} has ${leased ?? 'no lease'}, not ${ip}`);
  try {
    (await dialGuest(ip, SSH_PORT)).destroy();
  } catch {
    add('guest', 'wrong', `SSH of ${ip} does not answer`);
  }
}
