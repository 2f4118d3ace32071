import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';
import type { LabLog } from './lab-log.ts';
import { promoteToSlices } from './promote-to-slices.ts';

type Node = components['schemas']['Node'];
type Candidate = components['schemas']['CandidateSlot'];

/** Limits the concurrent requests of a large fleet. */
const AT_A_TIME = 16;
/**
 * As an operator: promotes every host that has no slots yet to slices, approves its candidates and records its
 * burn-in. Safe to repeat. A host that fails twice is left for a person; the others are leased without it.
 */
export async function approveFleet(client: GpuaasClient, log: LabLog): Promise<void> {
  const asked = (await listNodes(client)).filter(hasNoSlots);
  const waiting = asked.values();
  const left: unknown[] = [];
  const approveInTurn = async (): Promise<void> => {
    for (const node of waiting) {
      try {
        await approveNode(client, node, log).catch(() => approveNode(client, node, log));
      } catch (error) {
        log.warn({ hostname: node.hostname, err: error }, 'host not approved');
        left.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, approveInTurn));
  if (left.length > 0 && left.length === asked.length) throw left[0];
}

async function approveNode(client: GpuaasClient, node: Node, log: LabLog): Promise<void> {
  const path = { node_id: node.id };
  await promoteToSlices(client, node);
  const discovery = await unwrap(
    client.GET('/api/v1/admin/nodes/{node_id}/slice-topology/discovery', { params: { path } }),
  );
  const { candidates } = discovery;
  const discovery_task_id = discovery.task.id;
  const slot_indexes = candidates.filter(mayBeSold).map((candidate) => candidate.slot_index);
  for (const left of candidates.filter((candidate) => !mayBeSold(candidate))) {
    log.warn(
      { hostname: node.hostname, slot_index: left.slot_index, mounts: left.nvme_mounts },
      'slot not approved',
    );
  }
  if (slot_indexes.length === 0) return;
  const body = { discovery_task_id, slot_indexes, destructive_wipe_policy: 'blkdiscard' as const };
  await unwrap(
    client.POST('/api/v1/admin/nodes/{node_id}/resource-slots/approve', { params: { path }, body }),
  );
  log.info({ hostname: node.hostname, slots: slot_indexes.length }, 'slots approved');
  const evidence = `Simulated host: ${slot_indexes.length} of ${candidates.length} bundles found complete.`;
  await unwrap(
    client.POST('/api/v1/admin/nodes/{node_id}/burn-ins', {
      params: { path },
      body: { result: 'passed', evidence },
    }),
  );
}

async function listNodes(client: GpuaasClient): Promise<Node[]> {
  const nodes: Node[] = [];
  let page: string | null = null;
  do {
    const query: { page?: string } = page === null ? {} : { page };
    const answer: { items: Node[]; next_page: string | null } = await unwrap(
      client.GET('/api/v1/admin/nodes', { params: { query } }),
    );
    nodes.push(...answer.items);
    page = answer.next_page;
  } while (page !== null);
  return nodes;
}

function hasNoSlots(node: Node): boolean {
  return Object.values(node.slot_counts).every((count) => count === 0);
}

function mayBeSold(candidate: Candidate): boolean {
  const complete = candidate.fabric_vf_pci_address !== null && candidate.nvme_serial !== null;
  return complete && candidate.nvme_mounts.length === 0;
}
