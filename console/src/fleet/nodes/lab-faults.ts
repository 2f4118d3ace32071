import type { LabFault } from '../../api/types.ts';
import { keysOf } from '../../typed-keys.ts';

const LABELS: Record<LabFault, string> = {
  network_cut: 'Network down',
  gpu_lost: 'GPU in slot 6 lost',
  gpu_failing: 'XID error on GPU in slot 5',
  disk_mounted: 'Disk in slot 7 mounted',
  wipe_fails: 'Wipe leaves data',
  vm_never_boots: 'VMs do not boot',
  driver_missing: 'GPU driver missing in VMs',
  network_residue: 'Stale VM leases',
  slow_clone: 'Slow image clone',
  agent_dies: 'Agent crashes in next task',
  host_reboot: 'Reboot now',
  clock_skew: 'Clock one day ahead',
  clock_skew_back: 'Clock one day behind',
  iommu_off: 'IOMMU off',
  sriov_off: 'SR-IOV off',
  reboot_required: 'Reboot required',
};

/** Possible faults, in the order of the page. */
export const LAB_FAULTS = keysOf(LABELS).map((fault) => ({
  fault,
  label: LABELS[fault],
}));
