import { describeLease } from '../../describe-lease.ts';
import type { ObservedVm } from '../../host.ts';
import type { SliceNetwork } from './slice-network.ts';

/** Machines with the address that each has now. A machine without a reservation is shown without one. */
export async function addLeases(
  network: Pick<SliceNetwork, 'ports' | 'leaseOf'>,
  machines: readonly ObservedVm[],
): Promise<ObservedVm[]> {
  const ports = await network.ports();
  return await Promise.all(
    machines.map(async (machine) => {
      const port = ports.find(({ allocation_id }) => allocation_id === machine.allocation_id);
      if (!port) return machine;
      return { ...machine, network: describeLease(port.mac, port.ip, await network.leaseOf(port.mac)) };
    }),
  );
}
