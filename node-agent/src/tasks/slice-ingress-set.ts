import type { TaskHandler } from './task-context.ts';
import { TaskError } from './task-error.ts';

/** Sets a machine's forwardings to the desired ones; returns the host's rules as read back. */
export const setSliceIngress: TaskHandler<'slice.ingress_set'> = async (
  { allocation_id, rules },
  { host, leases },
  context,
) => {
  const setting = context.stage('network', `Letting ${rules.length} ports lead to the machine`);
  const held = (await leases.list()).some((lease) => lease.allocation_id === allocation_id);
  if (!held) throw new TaskError('vm_missing', 'this host holds no lease of the allocation');
  return { rules: await host.setIngress(allocation_id, rules, setting) };
};
