import type { TaskHandler } from './task-context.ts';
import { TaskError } from './task-error.ts';

/**
 * Gives this host to one tenant as a user. Root is granted only when the platform requests it, which it does
 * where the machine is erased and reinstalled afterwards: a tenant with root could leave anything behind.
 */
export const provisionUser: TaskHandler<'allocation.provision_user'> = async (params, tools, context) => {
  const planning = context.stage('plan', 'Checking that the host is free');
  const held = (await tools.leases.list()).filter((lease) => lease.allocation_id !== params.allocation_id);
  if (held.length > 0) {
    throw new TaskError('plan_refused', `${held.length} slots of this host are leased to others`);
  }
  await tools.hostLease.take(params.allocation_id);
  planning.percent(100);
  const facts = await tools.host.addUser(params, context.stage('user', 'Making the login'));
  context.stage('readiness', 'The login answers').percent(100);
  return { ...facts, privileged: params.root ?? false, boot_id: tools.host.bootId };
};
