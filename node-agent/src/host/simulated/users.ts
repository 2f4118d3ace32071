import { access, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureFolder } from '../../durable-file.ts';
import type { VmPlan } from '../../slices/plan-vm.ts';
import type { HostUser } from '../host.ts';
import type { SimulatedHardware } from './hardware.ts';

/** Files of tenants that lease the whole machine. */
export function openUsers(dir: string) {
  const folderOf = (username: string): string => join(dir, 'users', username);
  return {
    async make(username: string): Promise<string> {
      const home = join(folderOf(username), 'home');
      await ensureFolder(home);
      return home;
    },
    async remove(username: string, { leaveResidue }: { leaveResidue: boolean }): Promise<void> {
      await rm(folderOf(username), { recursive: true, force: true });
      if (!leaveResidue) return;
      await ensureFolder(folderOf(username));
      await writeFile(join(folderOf(username), 'residue.bin'), 'data of the former tenant\n');
    },
    async left(username: string): Promise<string[]> {
      const there = await access(folderOf(username)).then(
        () => true,
        () => false,
      );
      return there ? (await readdir(folderOf(username))).map((name) => `file ${username}/${name}`) : [];
    },
  };
}

/** The tenant of a whole machine sees all of it; its shell is contained like that of a VM. */
export function wholeMachinePlan(user: HostUser, hardware: SimulatedHardware): VmPlan {
  const slots = hardware.slots.map(
    ({ gpu_model: _model, iommu_group: _group, pcie_root: _root, ...slot }) => ({
      slot_id: user.allocation_id,
      ...slot,
    }),
  );
  return {
    ...user,
    image: { name: 'host', digest: `sha256:${'0'.repeat(64)}` },
    slots,
    boot_slot: slots[0]!,
    vcpu: 24 * slots.length,
    memory_gib: 64 * slots.length,
    readiness_checks: [],
  };
}
