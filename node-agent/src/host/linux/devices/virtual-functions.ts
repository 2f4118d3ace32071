import { TaskError } from '../../../tasks/task-error.ts';
import { deviceFolder, writeSysfs, type Sysfs } from './sysfs.ts';

/**
 * Creates at least this many virtual functions of an adapter and returns how many there are. The adapter's
 * own driver must be bound by then: it creates the functions, and vfio-pci takes no adapter that has
 * functions.
 */
export async function createFunctions(sysfs: Sysfs, adapter: string, count: number): Promise<number> {
  const { files } = sysfs;
  const at = deviceFolder(adapter);
  const now = files.integer(`${at}/sriov_numvfs`) ?? 0;
  if (now >= count) return now;
  const total = files.integer(`${at}/sriov_totalvfs`) ?? 0;
  if (total < count) {
    const detail = `${adapter} can have ${total} virtual functions, ${count} are needed`;
    throw new TaskError('functions_failed', `${detail}; raise their number in the adapter's firmware`);
  }
  // Otherwise the host's network driver claims each function before it can be passed through.
  await writeSysfs(sysfs, 'functions_failed', `${at}/sriov_drivers_autoprobe`, '0');
  // The kernel changes the number only from or to zero.
  if (now > 0) await removeFunctions(sysfs, adapter);
  await writeSysfs(sysfs, 'functions_failed', `${at}/sriov_numvfs`, String(count));
  const made = files.list(at).filter((name) => /^virtfn\d+$/.test(name)).length;
  if (made < count)
    throw new TaskError('functions_failed', `${adapter} made ${made} of ${count} virtual functions`);
  return made;
}

export async function removeFunctions(sysfs: Sysfs, adapter: string): Promise<void> {
  const at = deviceFolder(adapter);
  if ((sysfs.files.integer(`${at}/sriov_numvfs`) ?? 0) === 0) return;
  await writeSysfs(sysfs, 'functions_failed', `${at}/sriov_numvfs`, '0');
}
