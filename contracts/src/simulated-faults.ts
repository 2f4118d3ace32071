/** What the lab can break on a simulated host, and what it looks like from outside. */
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

/** The names in a list with commas; `name@hostname` means one host. */
export function listFaults(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The names in a file of faults: one a line, or with commas. */
export function faultsIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '');
}

/** Those that befall this host. */
export function faultsOn(hostname: string, names: readonly string[]): SimulatedFault[] {
  return SIMULATED_FAULTS.filter((fault) =>
    names.some((name) => name === fault || name === `${fault}@${hostname}`),
  );
}

/** Those of the list that nobody would act on. */
export function unknownFaults(text: string): string[] {
  return listFaults(text).filter(
    (name) => !SIMULATED_FAULTS.some((known) => name === known || name.startsWith(`${known}@`)),
  );
}
