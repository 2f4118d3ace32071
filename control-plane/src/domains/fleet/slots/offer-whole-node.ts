import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import { wholeNodeProducts } from '../../catalog/whole-node-products.ts';
import type { FleetNeeds } from '../needs.ts';
import { lockNode } from '../nodes/lock-node.ts';
import { latestDiscovered } from './approve-slots.ts';
import { lockApprovals } from './approval-context.ts';
import { setSellableCapacity } from './set-sellable-capacity.ts';
import { emitSlotsChanged } from './transition-slots.ts';
import { wholeNodeUnits, wholeNodeViolations, type WholeNodeUnit } from './whole-node-rules.ts';

export interface WholeNodeOffer {
  nodeId: string;
  discoveryTaskId: string;
  now: Date;
  correlationId: string;
}

/** Puts a host in baremetal mode on sale as a whole, as large as its latest discovery found it. */
export async function offerWholeNode(
  { leases }: Pick<FleetNeeds, 'leases'>,
  tx: Tx,
  { nodeId, discoveryTaskId, now, correlationId }: WholeNodeOffer,
): Promise<void> {
  const node = await lockNode(tx, nodeId);
  await lockApprovals(tx);
  const claims = await leases.countLiveClaims(tx, nodeId);
  if (claims > 0) throw new Problem('node_in_use', 'The host is leased; its offer cannot change now.');
  const discovery = await latestDiscovered(tx, nodeId, discoveryTaskId);
  const misses = wholeNodeViolations(discovery, { mode: node.mode, products: await wholeNodeProducts(tx) });
  if (misses.length > 0)
    throw new Problem('slot_approval_refused', 'The host was not offered; every violation is listed.', {
      errors: misses,
    });
  await withdrawUnits(tx, nodeId);
  const units = wholeNodeUnits(discovery);
  await setSellableCapacity(tx, nodeId, {
    vcpu: units.reduce((sum, unit) => sum + unit.vcpu, 0),
    memoryGib: units.reduce((sum, unit) => sum + unit.memory_gib, 0),
  });
  for (const unit of units) await offerUnit(tx, nodeId, unit, now);
  await emitSlotsChanged(tx, nodeId, correlationId);
}

/** Units of an earlier offer or of slices; the offer enables those that it has. */
async function withdrawUnits(tx: Tx, nodeId: string): Promise<void> {
  await tx
    .updateTable('node_resource_slots')
    .set({ state: 'disabled', desired_state: 'disabled', health_detail: 'Not in the whole-node offer.' })
    .where('node_id', '=', nodeId)
    .where('state', '=', 'available')
    .execute();
}

async function offerUnit(
  tx: Tx,
  nodeId: string,
  { slot_index, ...unit }: WholeNodeUnit,
  now: Date,
): Promise<void> {
  const values = {
    ...unit,
    state: 'available',
    desired_state: 'for_sale',
    health_state: 'unknown',
    health_detail: 'In the whole-node offer, from discovery.',
    device_fault: null,
    approved_at: now,
    capacity_metadata: JSON.stringify({ fabric_claim_mode: 'whole_node', destructive_wipe_policy: 'host' }),
  } as const;
  const known = await tx
    .updateTable('node_resource_slots')
    .set(values)
    .where('node_id', '=', nodeId)
    .where('slot_index', '=', slot_index)
    .where('desired_state', '<>', 'retired')
    .returning('id')
    .executeTakeFirst();
  if (known) return;
  await tx
    .insertInto('node_resource_slots')
    .values({
      id: newId(),
      node_id: nodeId,
      slot_index,
      ...values,
      fabric_vf_pci_address: '',
      nvme_serial: '',
      nvme_device: '',
      management_mac: '',
      private_ip: '',
      ovs_port: '',
    })
    .execute();
}
