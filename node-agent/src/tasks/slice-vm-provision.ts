import { describePlan, planVm, recordPlan } from '../slices/plan-vm.ts';
import type { TaskHandler } from './task-context.ts';
import { TaskError } from './task-error.ts';

/**
 * Brings up the VM of one allocation. Safe to run again at any point. After a failure the leases stay: only a
 * release with a verified wipe gives the slots back. A refused plan has written nothing and keeps no new lease.
 */
export const provisionSliceVm: TaskHandler<'slice.vm_provision'> = async (params, tools, context) => {
  const { host, leases } = tools;

  const planning = context.stage('plan', 'Checking the bundle against this host');
  const plan = planVm(params);
  await tools.hostLease.refuseIfHeld();
  // Leased before the check: no other task changes the devices between the check and their use.
  const leased = await leases.take(
    plan.slots.map((slot) => slot.slot_id),
    plan.allocation_id,
  );
  try {
    await host.checkPlan(plan);
  } catch (error) {
    await leases.drop(leased, plan.allocation_id);
    throw error;
  }
  planning.percent(100, describePlan(plan));

  if (!(await host.runsAsPlanned(plan))) {
    await host.cloneImage(plan, context.stage('image', `Cloning ${plan.image.name}`));
    const seeding = context.stage('seed', 'Writing cloud-init user-data and meta-data');
    await host.attachSeed(plan, seeding);
    await host.startVm(plan, context.stage('vm', `Starting the VM with ${plan.slots.length} GPU`));
  }

  const network = await host.awaitNetwork(
    plan,
    context.stage('network', `Waiting for ${plan.boot_slot.private_ip}`),
  );
  if (network.lease_state !== 'bound') {
    throw new TaskError(
      'network_not_bound',
      `the guest has no lease for ${network.expected_ip} on ${network.mac} (${network.lease_state})`,
    );
  }
  const facts = await host.awaitReadiness(plan, context.stage('readiness', 'Waiting for SSH'));
  const missed = facts.readiness.filter((result) => !result.passed);
  if (missed.length > 0) {
    const detail = missed.map(({ check, evidence }) => `${check}: ${evidence}`).join('; ');
    throw new TaskError('image_not_ready', detail);
  }
  return { ...facts, network, plan: recordPlan(plan), boot_id: host.bootId };
};
