import { TaskError } from '../../../tasks/task-error.ts';
import { deviceFolder, tell, type Sysfs } from './sysfs.ts';

/**
 * Has an adapter make virtual functions, at least so many, and answers how many there are. Its own driver must hold it
 * by then: functions are made by it, and vfio-pci takes no adapter that has some.
 */
export async function makeFunctions(sysfs: Sysfs, adapter: string, count: number): Promise<number> {
  const { files } = sysfs;
  const at = deviceFolder(adapter);
  const now = files.integer(`${at}/sriov_numvfs`) ?? 0;
  if (now >= count) return now;
  const total = files.integer(`${at}/sriov_totalvfs`) ?? 0;
  if (total < count) {
    const detail = `${adapter} can have ${total} virtual functions, ${count} are needed`;
    throw new TaskError('functions_failed', `${detail}; raise their number in the adapter's firmware`);
  }
  // Else the host's network driver takes each function before it can be given away.
  await tell(sysfs, 'functions_failed', `${at}/sriov_drivers_autoprobe`, '0');
  // The kernel changes no number but from or to none.
  if (now > 0) await removeFunctions(sysfs, adapter);
  await tell(sysfs, 'functions_failed', `${at}/sriov_numvfs`, String(count));
  const made = files.list(at).filter((name) => /^virtfn\d+$/.test(name)).length;
  if (made < count)
    throw new TaskError('functions_failed', `${adapter} made ${made} of ${count} virtual functions`);
  return made;
}

export async function removeFunctions(sysfs: Sysfs, adapter: string): Promise<void> {
  const at = deviceFolder(adapter);
  if ((sysfs.files.integer(`${at}/sriov_numvfs`) ?? 0) === 0) return;
  await tell(sysfs, 'functions_failed', `${at}/sriov_numvfs`, '0');
}
