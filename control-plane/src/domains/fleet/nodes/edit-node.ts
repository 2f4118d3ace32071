import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { LeasesOnHosts } from '../needs.ts';
import type { lockNode } from './lock-node.ts';
import { emitNodeChanged } from './node-events.ts';

type Node = components['schemas']['Node'];
type NodeRow = Awaited<ReturnType<typeof lockNode>>;
export type EditableNode = Pick<Node, 'region' | 'pool' | 'rack' | 'node_family' | 'profile_tags'>;

/** Fields that `PATCH` may change, and therefore those that the ETag of a host covers. */
export function editableFields(node: EditableNode | NodeRow): EditableNode {
  const { region, pool, rack, node_family, profile_tags } = node;
  return { region, pool, rack, node_family, profile_tags };
}

/** Changes the location and purpose of a host. A host with leases keeps its region. */
export async function editNode(
  { leases }: { leases: LeasesOnHosts },
  tx: Tx,
  node: NodeRow,
  change: Partial<EditableNode>,
  correlationId: string,
): Promise<void> {
  if (change.region !== undefined && change.region !== node.region) {
    await refuseWhileClaimed(leases, tx, node.id);
    await requireRegion(tx, change.region);
  }
  await tx.updateTable('nodes').set(change).where('id', '=', node.id).execute();
  await emitNodeChanged(tx, node.id, 'edited', correlationId);
}

async function refuseWhileClaimed(leases: LeasesOnHosts, tx: Tx, nodeId: string): Promise<void> {
  const claims = await leases.countLiveClaims(tx, nodeId);
  if (claims === 0) return;
  throw new Problem('node_in_use', `${claims} claims are live on the host; drain it and wait for them.`, {
    errors: [
      { pointer: '/region', code: 'node_in_use', detail: 'cannot change while the host holds claims' },
    ],
    extensions: { live_claims: claims },
  });
}

async function requireRegion(tx: Tx, region: string): Promise<void> {
  const known = await tx
    .selectFrom('regions')
    .select('region')
    .where('region', '=', region)
    .executeTakeFirst();
  if (known) return;
  throw new Problem('region_unavailable', `There is no region ${region}.`, {
    errors: [{ pointer: '/region', code: 'region_unavailable', detail: 'is not a region' }],
  });
}
