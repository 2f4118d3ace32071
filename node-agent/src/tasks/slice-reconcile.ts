import type { Finding } from '../host/host.ts';
import type { TaskHandler } from './task-context.ts';

const MAX_FINDINGS = 200;

/** Holds this host against what the platform believes of it. Changes nothing: orphans are for an operator to judge. */
export const reconcileSlices: TaskHandler<'slice.reconcile'> = async (
  { machines },
  { host, leases },
  context,
) => {
  const looking = context.stage('check', 'Comparing the host with the platform');
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
  findings.push(...(await host.reconcile(machines, looking)));
  return {
    checked_at: new Date().toISOString(),
    machines: machines.length,
    findings: findings.slice(0, MAX_FINDINGS),
  };
};
