import type { LabFault } from '../api/types.ts';

const LABELS: Record<LabFault, string> = {
  network_cut: 'Network is cut',
  gpu_lost: 'GPU of slot 6 is lost',
  gpu_failing: 'GPU of slot 5 reports an XID',
  disk_mounted: 'Disk of slot 7 is mounted',
  wipe_fails: 'Wipes leave data',
  vm_never_boots: 'Machines never boot',
  driver_missing: 'Machines come up without the GPU driver',
  network_residue: 'Leases of machines are left behind',
  slow_clone: 'Images clone slowly',
  agent_dies: 'Agent dies in its next task',
  host_reboot: 'Host reboots now',
  clock_skew: 'Clock is a day ahead',
  clock_skew_back: 'Clock is a day behind',
  iommu_off: 'IOMMU is off',
  sriov_off: 'SR-IOV is off',
  reboot_required: 'Reboot is required',
};

/** What can be broken, in the order the page lists it. */
export const LAB_FAULTS = (Object.keys(LABELS) as LabFault[]).map((fault) => ({
  fault,
  label: LABELS[fault],
}));
