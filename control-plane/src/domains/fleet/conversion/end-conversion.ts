import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { openIncident, resolveIncident } from '../../incidents/open-incident.ts';
import { uncordonNode } from '../nodes/cordons.ts';
import { lockNode } from '../nodes/lock-node.ts';
import { emitNodeChanged } from '../nodes/node-events.ts';
import { emitSlotsChanged } from '../slots/transition-slots.ts';

type NodeMode = components['schemas']['NodeConversion']['to_mode'];

export interface ConversionOutcome {
  /** Null when the host is in its new mode. */
  trouble: string | null;
  /** The host was bound again as it had been. */
  undone: boolean;
}

/** Records the new mode, or keeps the old one; a host between the two stays cordoned. */
export async function endConversion(
  services: Services,
  { conversionId, nodeId, correlationId }: { conversionId: string; nodeId: string; correlationId: string },
  { trouble, undone }: ConversionOutcome,
): Promise<void> {
  const now = services.clock.now();
  await services.db.transaction().execute(async (tx) => {
    await lockNode(tx, nodeId);
    const state = trouble === null ? 'succeeded' : undone ? 'undone' : 'failed';
    const row = await tx
      .updateTable('node_conversions')
      .set({ state, detail: trouble?.slice(0, 500) ?? null, ended_at: now })
      .where('id', '=', conversionId)
      .where('state', '=', 'running')
      .returning('to_mode')
      .executeTakeFirst();
    if (!row) return;
    if (state === 'succeeded') await enterMode(tx, nodeId, row.to_mode, correlationId);
    if (state === 'failed') {
      await openIncident(tx, now, {
        type: 'node_conversion_failed',
        targetType: 'node',
        targetId: nodeId,
        summary: `The host could be brought neither into ${row.to_mode} mode nor back.`,
        detail: { conversion_id: conversionId, trouble },
      });
    } else {
      await uncordonNode(tx, nodeId, 'conversion');
      const incident = { type: 'node_conversion_failed', targetId: nodeId } as const;
      await resolveIncident(tx, now, incident, `The conversion has ${state}.`);
    }
    await emitNodeChanged(tx, nodeId, 'converted', correlationId);
  });
}

const APPROVE_AGAIN: Readonly<Record<NodeMode, string>> = {
  slice: 'The host came back from baremetal; approve the slot again.',
  baremetal: 'The host is in baremetal mode; approve its whole-node offer.',
};

/**
 * What was approved for one mode is not for sale in the other: in slice mode each slot is approved again, in baremetal mode
 * the host is offered as a whole.
 */
async function enterMode(tx: Tx, nodeId: string, mode: NodeMode, correlationId: string): Promise<void> {
  await tx.updateTable('nodes').set({ mode }).where('id', '=', nodeId).execute();
  await tx
    .updateTable('node_resource_slots')
    .set({
      state: 'disabled',
      desired_state: 'disabled',
      health_state: 'unknown',
      health_detail: APPROVE_AGAIN[mode],
    })
    .where('node_id', '=', nodeId)
    .where('state', '=', 'available')
    .execute();
  await emitSlotsChanged(tx, nodeId, correlationId);
}
