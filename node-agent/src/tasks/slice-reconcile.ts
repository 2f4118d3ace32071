import type { TaskParams } from '@gpuaas/contracts/tasks';
import type { Finding, Step } from '../host/host.ts';
import type { TaskHandler, TaskTools } from './task-context.ts';
import type { Watch } from './work-under-way.ts';

const MAX_FINDINGS = 200;

/**
 * Holds this host against what the platform believes of it. Changes nothing: orphans are for an operator to judge. What
 * another task is making or taking away meanwhile is left out, as it is neither here nor gone.
 */
export const reconcileSlices: TaskHandler<'slice.reconcile'> = async (params, tools, context) => {
  const looking = context.stage('check', 'Comparing the host with the platform');
  const watch = tools.underWay.watch();
  try {
    const findings = await compare(params, tools, watch, looking);
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
  { host, leases }: TaskTools,
  watch: Watch,
  looking: Step,
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
  findings.push(...(await host.reconcile(machines, () => [...claimed, ...watch.seen()], looking)));
  const changing = new Set(watch.seen().map(({ allocation_id }) => allocation_id));
  const known = new Set(claimed.map(({ allocation_id }) => allocation_id));
  return findings.filter(({ state, allocation_id }) => {
    if (allocation_id === null) return true;
    return !changing.has(allocation_id) && !(state === 'orphan' && known.has(allocation_id));
  });
}
