import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Selectable } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import type { NodeBurnIns } from '../../../platform/db/generated/schema.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import { cordonNode, uncordonNode } from '../nodes/cordons.ts';
import { lockNode } from '../nodes/lock-node.ts';
import { emitNodeChanged } from '../nodes/node-events.ts';
import { latestSucceededTask } from '../../tasks/latest-succeeded.ts';
import { isFailedCheck, getReadiness } from './readiness.ts';

type BurnIn = components['schemas']['BurnIn'];

export interface BurnInReport {
  nodeId: string;
  result: BurnIn['result'];
  evidence: string;
  recordedBy: string;
  at: Date;
  correlationId: string;
}

/** The gate before the first sale: a pass lifts the cordon a host has had since it enrolled, a failure sets it. */
export async function recordBurnIn(tx: Tx, report: BurnInReport): Promise<BurnIn> {
  const { nodeId, result, evidence } = report;
  const node = await lockNode(tx, nodeId);
  if (result === 'passed') {
    await requireEvidence(tx, node);
    await uncordonNode(tx, nodeId, 'burn_in');
  } else {
    const detail = `A burn-in failed: ${evidence}`;
    await cordonNode(tx, nodeId, { reason: 'burn_in', detail, since: report.at });
  }
  const row = await tx
    .insertInto('node_burn_ins')
    .values({
      id: newId(),
      node_id: nodeId,
      result,
      evidence,
      recorded_by: report.recordedBy,
      recorded_at: report.at,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await emitNodeChanged(tx, nodeId, 'burn_in_recorded', report.correlationId);
  return describeBurnIn(row);
}

/** A burn-in cannot pass on a host without a mode, without a discovery or with a failed readiness check. */
async function requireEvidence(tx: Tx, node: { id: string; mode: string | null }): Promise<void> {
  const misses: string[] = [];
  if (node.mode === null) misses.push('the host has no mode; convert it to slices or to baremetal');
  if (!(await latestSucceededTask(tx, node.id, 'slice.topology_discover'))) {
    misses.push('the host has not been discovered');
  }
  if (node.mode === 'slice') {
    const { state, checks } = await getReadiness(tx, node.id);
    if (state === 'unknown') misses.push('its readiness has not been checked');
    for (const check of checks.filter(isFailedCheck)) misses.push(`${check.id}: ${check.evidence}`);
  }
  if (misses.length === 0) return;
  throw new Problem('burn_in_not_ready', 'The burn-in cannot pass yet.', {
    errors: misses.map((detail) => ({ pointer: '/result', code: 'evidence_missing', detail })),
  });
}

export function describeBurnIn(row: Selectable<NodeBurnIns>): BurnIn {
  return {
    id: row.id,
    node_id: row.node_id,
    result: row.result,
    evidence: row.evidence,
    recorded_by: row.recorded_by,
    recorded_at: row.recorded_at.toISOString(),
  };
}
