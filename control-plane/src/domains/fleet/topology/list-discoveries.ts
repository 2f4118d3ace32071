import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { parseTaskOutput, type CandidateSlot } from '@gpuaas/contracts/tasks';
import type { Db, Tx } from '../../../platform/db/database.ts';
import type { NodeTasks } from '../../../platform/db/generated/schema.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { approvalContext } from '../slots/approval-context.ts';
import { checkCandidate, candidateViolations, type ApprovalContext } from '../slots/approval-rules.ts';
import { findTask, findTasks } from '../../tasks/find-task.ts';
import { describeTask } from '../../tasks/list-tasks.ts';

type DiscoverySummary = components['schemas']['DiscoverySummary'];
type TopologyDiscovery = components['schemas']['TopologyDiscovery'];

const KIND = 'slice.topology_discover';

/** Every discovery of the host, newest first. */
export async function listDiscoveries(
  db: Db | Tx,
  now: Date,
  nodeId: string,
  query: { limit: number; page?: string },
): Promise<Page<DiscoverySummary>> {
  const node = await db
    .selectFrom('nodes')
    .select(['id', 'mode'])
    .where('id', '=', nodeId)
    .executeTakeFirst();
  if (!node) throw notFound();
  const after = decodePage(query.page, ['uuid']);
  const range = { limit: query.limit + 1, ...(after ? { after: after[0] } : {}) };
  const rows = await findTasks(db, { nodeId, kind: KIND }, range);
  const page = toPage(rows, query.limit, (row) => [row.id]);
  const context = await anyApproval(db, node, []);
  return { items: page.rows.map((row) => summarise(row, now, context)), next_page: page.next_page };
}

export async function getDiscovery(
  db: Db | Tx,
  now: Date,
  nodeId: string,
  taskId: string,
): Promise<TopologyDiscovery> {
  const row = await findTask(db, { nodeId, kind: KIND }, taskId);
  if (!row) throw notFound();
  return await describeDiscovery(db, row, now);
}

/** The discovery with the result of the approval rules for each candidate. */
export async function describeDiscovery(
  db: Db | Tx,
  row: Selectable<NodeTasks>,
  now: Date,
): Promise<TopologyDiscovery> {
  const { candidates, left_out } = outputOf(row);
  const context = await anyApproval(db, { id: row.node_id, mode: 'slice' }, candidates);
  const approval = candidates.map((candidate) => ({
    slot_index: candidate.slot_index,
    rules: checkCandidate(candidate, candidates, context).map(({ code, name, breach }) => ({
      code,
      name,
      breach,
    })),
  }));
  return { task: describeTask(row, now), approval_required: true, candidates, approval, left_out };
}

/** Approval parameters that themselves violate no rule. */
async function anyApproval(
  db: Db | Tx,
  node: { id: string; mode: string | null },
  discovered: readonly CandidateSlot[],
): Promise<ApprovalContext> {
  return await approvalContext(db, node, {
    fabricClaimMode: 'per_slot_vf',
    destructiveWipePolicy: 'any',
    reapproved: new Set(discovered.map(({ slot_index }) => slot_index)),
    discovered,
  });
}

function summarise(row: Selectable<NodeTasks>, now: Date, context: ApprovalContext): DiscoverySummary {
  const { candidates, left_out } = outputOf(row);
  return {
    task: describeTask(row, now),
    candidates: candidates.length,
    complete: candidates.filter((candidate) => candidateViolations(candidate, context).length === 0).length,
    left_out: left_out.length,
  };
}

function outputOf(row: Selectable<NodeTasks>) {
  if (row.state !== 'succeeded') return { candidates: [], left_out: [] };
  return parseTaskOutput(KIND, row.output);
}
