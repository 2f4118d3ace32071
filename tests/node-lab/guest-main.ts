/**
 * Runs inside the emulated node: the real driver against the kernel there. Prints its findings in one line.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pino } from 'pino';
import type { HostOperation } from '@gpuaas/node-agent/host/host';
import { readDeviceBindings } from '@gpuaas/node-agent/host/linux/devices/device-bindings';
import { writeBelow } from '@gpuaas/node-agent/host/linux/devices/sysfs';
import { openLinuxHost } from '@gpuaas/node-agent/host/linux/linux-host';
import { readLinuxSettings } from '@gpuaas/node-agent/host/linux/settings';
import { TaskError } from '@gpuaas/node-agent/tasks/task-error';
import type { NodeReport, SeenDevice } from './node-report.ts';

const DIR = '/var/lib/gpuaas';
const DEVICES = '/sys/bus/pci/devices';
const GPU = '0x1af4 0x1044';
const step: HostOperation = { signal: AbortSignal.timeout(200_000), percent: () => undefined };
const host = openLinuxHost({ settings: readLinuxSettings({}), dir: DIR, hostname: 'emulated-01' });
const write = writeBelow('/');

async function firstBoot(): Promise<NodeReport> {
  const topology = await host.discoverTopology(step);
  const [candidate] = topology.candidates;
  if (!candidate) throw new Error(`nothing to sell: ${JSON.stringify(topology.left_out)}`);
  const evidence = await host.setMode('slice', step);
  const bound = devices();
  const adapter = bound.find(({ role }) => role === 'adapter')?.address ?? '';
  const { slot_index, gpu_pci_address, management_mac, private_ip, ovs_port, numa_node } = candidate;
  const slot = {
    slot_id: '01890000-0000-7000-8000-000000000001',
    ...{ slot_index, gpu_pci_address, management_mac, private_ip, ovs_port, numa_node },
    fabric_vf_pci_address: bound.find(({ role }) => role === 'function')?.address ?? '',
    nvme_serial: candidate.nvme_serial ?? '',
    nvme_device: candidate.nvme_device ?? '',
  };
  const resets = await host.resetDevices([slot], step);
  const before = await host.verifyWipe(slot, 'sampled', step);
  await host.wipeDisk(slot, { method: 'blkdiscard', isWritten: true }, step);
  const after = await host.verifyWipe(slot, 'sampled', step);
  await writeFile(slot.nvme_device, 'of another tenant', { flag: 'r+' });
  const dirtied = await host.verifyWipe(slot, 'sampled', step);
  await host.wipeDisk(slot, { method: 'nvme_format', isWritten: true }, step);
  const formatted = await host.verifyWipe(slot, 'sampled', step);
  const sanitize = await host
    .wipeDisk(slot, { method: 'nvme_sanitize', isWritten: true }, step)
    .then(() => 'done', refusal);
  return {
    boot: 'first',
    candidate,
    leftOut: topology.left_out.map(({ device, code }) => `${device} ${code}`),
    evidence,
    bound,
    vfioGroups: readdirSync('/dev/vfio').filter((name) => /^\d+$/.test(name)).length,
    reset: resets.get(slot.slot_id) ?? null,
    wipe: { before, after, dirtied, formatted, sanitize },
    refusals: {
      otherNumber: await answer(`${DEVICES}/${adapter}/sriov_numvfs`, '2'),
      adapterToVfio: await offerToVfio(adapter),
    },
  };
}

function refusal(error: unknown): string {
  return error instanceof TaskError ? `${error.code}: ${error.message}` : String(error);
}

async function secondBoot(): Promise<NodeReport> {
  const found = devices();
  await host.recover(pino({ level: 'silent' }));
  const restored = devices();
  const evidence = await host.setMode('baremetal', step);
  return { boot: 'second', found, restored, evidence, returned: devices() };
}

/** The stand-ins for GPU, adapter and functions, as sysfs shows them. */
function devices(): SeenDevice[] {
  const read = (address: string, name: string): string =>
    readFileSync(join(DEVICES, address, name), 'utf8').trim();
  return readdirSync(DEVICES).flatMap((address): SeenDevice[] => {
    const has = (name: string): boolean => existsSync(join(DEVICES, address, name));
    const isGpu = `${read(address, 'vendor')} ${read(address, 'device')}` === GPU;
    const role = isGpu ? 'gpu' : has('sriov_numvfs') ? 'adapter' : has('physfn') ? 'function' : null;
    const driver = has('driver') ? basename(readlinkSync(join(DEVICES, address, 'driver'))) : null;
    return role ? [{ role, address, driver }] : [];
  });
}

async function offerToVfio(adapter: string): Promise<string> {
  const at = join(DEVICES, adapter);
  await write(`${at}/driver_override`, 'vfio-pci');
  await write('/sys/bus/pci/drivers/nvme/unbind', adapter);
  const said = await answer('/sys/bus/pci/drivers_probe', adapter);
  return `${said}, ${existsSync(`${at}/driver`) ? basename(readlinkSync(`${at}/driver`)) : 'no driver'}`;
}

async function answer(path: string, value: string): Promise<string> {
  try {
    await write(path, value);
    return 'done';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

async function main(): Promise<NodeReport> {
  return (await readDeviceBindings(DIR)) ? await secondBoot() : await firstBoot();
}

main().then(
  (report) => console.log(`REPORT ${JSON.stringify(report)}`),
  (error: unknown) => console.log(`FAILED ${error instanceof Error ? error.stack : String(error)}`),
);
