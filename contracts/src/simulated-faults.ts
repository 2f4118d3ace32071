/** Faults that the lab can inject into a simulated host, and their visible effect. */
export const SIMULATED_FAULTS = [
  'wipe_fails',
  'vm_never_boots',
  'driver_missing',
  'network_residue',
  'slow_clone',
  'disk_mounted',
  'gpu_lost',
  'gpu_failing',
  'agent_dies',
  'host_reboot',
  'network_cut',
  'clock_skew',
  'clock_skew_back',
  'iommu_off',
  'sriov_off',
  'reboot_required',
] as const;
export type SimulatedFault = (typeof SIMULATED_FAULTS)[number];

/** The names in a comma-separated list; `name@hostname` addresses one host. */
export function listFaults(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The names in a file of faults: one a line, or with commas. */
export function parseFaults(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '');
}

/** Faults in the list that apply to this host. */
export function faultsForHost(hostname: string, names: readonly string[]): SimulatedFault[] {
  return SIMULATED_FAULTS.filter((fault) =>
    names.some((name) => name === fault || name === `${fault}@${hostname}`),
  );
}

/** Names in the list that are no faults. */
export function unknownFaults(text: string): string[] {
  return listFaults(text).filter(
    (name) => !SIMULATED_FAULTS.some((known) => name === known || name.startsWith(`${known}@`)),
  );
}
