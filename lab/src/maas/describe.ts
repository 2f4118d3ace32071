import type { FakeMachine } from './fake-machine.ts';
import { STATUS_NAMES } from './statuses.ts';

/** A machine as MAAS's API describes it, without fields that the platform does not read. */
export function describeMachine(machine: FakeMachine): Record<string, unknown> {
  const newest = (type: string): number | null =>
    machine.sets.findLast((set) => set.type === type)?.id ?? null;
  return {
    system_id: machine.systemId,
    hostname: machine.hostname,
    fqdn: `${machine.hostname}.maas`,
    status: machine.status,
    status_name: STATUS_NAMES[machine.status],
    status_message: machine.history.at(-1) ?? '',
    owner: machine.owner ?? '',
    tag_names: [...machine.tags],
    power_state: machine.powerState,
    power_type: 'ipmi',
    architecture: 'amd64/generic',
    cpu_count: 192,
    memory: 2_097_152,
    osystem: machine.distroSeries ? 'ubuntu' : '',
    distro_series: machine.distroSeries,
    pool: { id: 0, name: 'default', description: 'Default pool' },
    zone: { id: 1, name: 'default', description: '' },
    hardware_info: {
      system_vendor: 'NVIDIA',
      system_product: 'DGXH200',
      system_serial: `SN-${machine.systemId}`,
      system_version: 'Unknown',
    },
    current_commissioning_result_id: newest('commissioning'),
    current_testing_result_id: newest('testing'),
    current_installation_result_id: null,
    resource_uri: `/MAAS/api/2.0/machines/${machine.systemId}/`,
  };
}

export function describeResults(machine: FakeMachine, type: string | null): Record<string, unknown>[] {
  return machine.sets
    .filter((set) => type === null || set.type === type)
    .map((set) => ({
      id: set.id,
      system_id: machine.systemId,
      type: set.type === 'commissioning' ? 0 : 2,
      type_name: set.type === 'commissioning' ? 'Commissioning' : 'Testing',
      results: set.scripts.map(({ name, passed }) => ({
        name,
        status: passed === null ? 1 : passed ? 2 : 3,
        status_name: passed === null ? 'Running' : passed ? 'Passed' : 'Failed',
        exit_status: passed === null ? null : passed ? 0 : 1,
      })),
    }));
}
