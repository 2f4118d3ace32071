import type { VmPlan } from '../../slices/plan-vm.ts';
import { TaskError } from '../../tasks/task-error.ts';
import { checkDevices } from './check-devices.ts';
import type { RunCommand } from './commands.ts';
import { findSignatures, requireUnusedDisk } from './disks/require-unused-disk.ts';
import { resolveDisk, type SlotDisk } from './disks/resolve-disk.ts';
import type { HostFiles } from './host-files.ts';
import { readHostDevices } from './inventory/inventory.ts';
import type { SliceNetwork } from './network/slice-network.ts';
import { readHugepages } from './inventory/processors.ts';
import type { LinuxSettings } from './settings.ts';
import { domainName } from './vm/domain.ts';
import type { Libvirt } from './vm/libvirt.ts';

export interface PlanCheck {
  files: HostFiles;
  run: RunCommand;
  settings: LinuxSettings;
  libvirt: Libvirt;
  network: SliceNetwork;
  /** Serial numbers of the disks that the allocation wrote in an earlier attempt. */
  written: () => Promise<ReadonlySet<string>>;
}

const KIB_PER_GIB = 1024 * 1024;

/** Checks the host as it is now: approved devices may have been moved, mounted or broken since. */
export async function checkPlan(check: PlanCheck, plan: VmPlan): Promise<void> {
  const devices = await readHostDevices(check.files, check.run);
  checkDevices(check.files, devices, plan.slots);
  for (const slot of plan.slots) {
    await checkDisk(check, resolveDisk(check.settings.root, devices, slot), plan);
  }
  await checkHugepages(check, plan);
  await check.network.check();
}

/** The disk is free and blank, or carries what an earlier attempt of this launch wrote. */
export async function checkDisk(check: PlanCheck, disk: SlotDisk, plan: VmPlan): Promise<void> {
  const { settings, libvirt, run } = check;
  const own = { domain: domainName(plan.allocation_id) };
  const isWritten = (await check.written()).has(disk.serial);
  await requireUnusedDisk({ root: settings.root, libvirt }, disk, own, isWritten);
  if (isWritten) return;
  const signatures = await findSignatures(run, disk);
  if (signatures.length === 0) return;
  const detail = `disk ${disk.serial} still carries data of another use: ${signatures.join(', ')}`;
  throw new TaskError('disk_not_clean', detail);
}

interface HugepageCheck {
  files: HostFiles;
  settings: Pick<LinuxSettings, 'hugepages'>;
  libvirt: Pick<Libvirt, 'state'>;
}

export async function checkHugepages(
  { files, settings, libvirt }: HugepageCheck,
  plan: Pick<VmPlan, 'allocation_id' | 'slots' | 'memory_gib'>,
): Promise<void> {
  if (!settings.hugepages) return;
  // A machine that runs already has its pages.
  if ((await libvirt.state(domainName(plan.allocation_id))) === 'running') return;
  const nodes = new Set<number | null>([null, ...plan.slots.map((slot) => slot.numa_node)]);
  const pools = readHugepages(files).filter(
    ({ size_kib, numa_node }) => size_kib === KIB_PER_GIB && nodes.has(numa_node),
  );
  const free = pools.reduce((sum, pool) => sum + pool.free, 0);
  if (free >= plan.memory_gib) return;
  const detail = `${free} GiB of hugepages are free on the slots' NUMA nodes, ${plan.memory_gib} GiB are needed`;
  throw new TaskError('hugepages_missing', detail);
}
