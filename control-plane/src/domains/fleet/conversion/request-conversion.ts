import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Selectable } from 'kysely';
import type { Db, Tx } from '../../../platform/db/database.ts';
import type { NodeConversions } from '../../../platform/db/generated/schema.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { FleetServices } from '../needs.ts';
import { cordonNode, cordonsByNode } from '../nodes/cordons.ts';
import { lockNode } from '../nodes/lock-node.ts';
import { emitNodeChanged } from '../nodes/node-events.ts';
import { convertNodeWorkflow, conversionWorkflowId } from './convert-node.workflow.ts';
import { present } from '../../../platform/present.ts';

export type NodeConversion = components['schemas']['NodeConversion'];
export type NodeMode = NodeConversion['to_mode'];

export interface ConversionRequest {
  nodeId: string;
  mode: NodeMode;
  reason: string;
  requestedBy: string;
  correlationId: string;
}

/** Cordons an empty host and starts its conversion. */
export async function requestConversion(
  services: FleetServices,
  tx: Tx,
  request: ConversionRequest,
): Promise<NodeConversion> {
  const { nodeId, mode, reason, correlationId } = request;
  const node = await lockNode(tx, nodeId);
  const claims = await services.leases.countLiveClaims(tx, nodeId);
  if (claims > 0) {
    throw new Problem('node_in_use', `${claims} claims are live on the host; drain it and wait for them.`, {
      extensions: { live_claims: claims },
    });
  }
  await refuseReserved(tx, nodeId, services.clock.now());
  if (await isBeingPromoted(tx, nodeId))
    throw new Problem('node_conversion_running', 'Wait for the conversion that is running.');
  const stuck = (await cordonsByNode(tx, [nodeId]))
    .get(nodeId)
    ?.some((cordon) => cordon.reason === 'conversion');
  if (node.mode === mode && !stuck) {
    throw new Problem('node_mode_unchanged', `The host is in ${mode} mode already.`);
  }
  const now = services.clock.now();
  const detail = `The host is being converted to ${mode}: ${reason}`;
  await cordonNode(tx, nodeId, { reason: 'conversion', detail, since: now });
  const id = newId();
  const row = await tx
    .insertInto('node_conversions')
    .values({
      id,
      node_id: nodeId,
      from_mode: node.mode,
      to_mode: mode,
      reason,
      requested_by: request.requestedBy,
      requested_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await emitNodeChanged(tx, nodeId, 'cordons_changed', correlationId);
  const input = { conversionId: id, nodeId, correlationId };
  await services.workflows.start(tx, convertNodeWorkflow, conversionWorkflowId(id), input);
  return describeConversion(row);
}

export async function isBeingPromoted(db: Db | Tx, nodeId: string): Promise<boolean> {
  const running = await db
    .selectFrom('node_conversions')
    .select('id')
    .where('node_id', '=', nodeId)
    .where('state', '=', 'running')
    .executeTakeFirst();
  return running !== undefined;
}

/**
 * In another mode the host could not serve its reservation. Holds for queued launches need no check: another
 * node is chosen for them automatically.
 */
async function refuseReserved(tx: Tx, nodeId: string, now: Date): Promise<void> {
  const kept = await tx
    .selectFrom('node_promises')
    .select('ends_at')
    .where('node_id', '=', nodeId)
    .where('reservation_id', 'is not', null)
    .where('ends_at', '>', now)
    .orderBy('ends_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!kept) return;
  const until = present(kept.ends_at, 'end').toISOString();
  throw new Problem('node_in_use', `The host is reserved until ${until}; wait, or cancel the reservation.`, {
    extensions: { reserved_until: until },
  });
}

export function describeConversion(row: Selectable<NodeConversions>): NodeConversion {
  return {
    id: row.id,
    node_id: row.node_id,
    from_mode: row.from_mode,
    to_mode: row.to_mode,
    state: row.state,
    reason: row.reason,
    detail: row.detail,
    requested_by: row.requested_by,
    requested_at: row.requested_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}
