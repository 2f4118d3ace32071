import type { TaskParams } from '@gpuaas/contracts/tasks';
import type { Finding, HostOperation } from '../host/host.ts';
import type { TaskHandler, TaskDependencies } from './task-context.ts';
import type { WorkWatch } from './active-work.ts';

const MAX_FINDINGS = 200;

/**
 * Compares this host with the platform's view of it. Changes nothing: an operator judges orphans. Resources
 * that another task is creating or removing are left out.
 */
export const reconcileSlices: TaskHandler<'slice.reconcile'> = async (params, tools, context) => {
  const checking = context.stage('check', 'Comparing the host with the platform');
  const watch = tools.underWay.watch();
  try {
    const findings = await compare(params, tools, watch, checking);
    return {
      checked_at: new Date().toISOString(),
      machines: params.machines.length,
      findings: findings.slice(0, MAX_FINDINGS),
    };
  } finally {
    watch.end();
  }
};

async function compare(
  { machines, held: claimed = [] }: TaskParams['slice.reconcile'],
  { host, leases }: TaskDependencies,
  watch: WorkWatch,
  checking: HostOperation,
): Promise<Finding[]> {
  const held = await leases.list();
  const holderOf = new Map(held.map(({ slot_id, allocation_id }) => [slot_id, allocation_id]));
  const wanted = new Set<string>();
  const findings: Finding[] = [];
  for (const { allocation_id, slots } of machines) {
    for (const { slot_id, slot_index } of slots) {
      wanted.add(slot_id);
      const holder = holderOf.get(slot_id);
      if (holder === allocation_id) continue;
      const evidence = `slot ${slot_index} is leased ${holder ? `by ${holder}` : 'by nobody'}`;
      findings.push({ subject: 'lease', state: holder ? 'wrong' : 'missing', allocation_id, evidence });
    }
  }
  for (const { slot_id, allocation_id } of held) {
    if (wanted.has(slot_id)) continue;
    findings.push({ subject: 'lease', state: 'orphan', allocation_id, evidence: `slot ${slot_id}` });
  }
  findings.push(...(await host.reconcile(machines, () => [...claimed, ...watch.seen()], checking)));
  const changing = new Set(watch.seen().map(({ allocation_id }) => allocation_id));
  const known = new Set(claimed.map(({ allocation_id }) => allocation_id));
  return findings.filter(({ state, allocation_id }) => {
    if (allocation_id === null) return true;
    return !changing.has(allocation_id) && !(state === 'orphan' && known.has(allocation_id));
  });
}
