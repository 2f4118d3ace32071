import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { FleetNode } from '../../fleet/placement-candidates.ts';
import { mayServe, nodeToKeep } from '../../placement/node-to-keep.ts';
import { requestOf, type QueuedLaunch } from './read-line.ts';

/**
 * Keeps one node for each of these launches, and none for anybody else in line: what comes free there is not given to
 * smaller ones any more. A node that can no longer serve is exchanged.
 */
export async function keepNodes(
  services: Services,
  heads: readonly QueuedLaunch[],
  fleet: readonly FleetNode[],
): Promise<void> {
  const now = services.clock.now();
  await services.db.transaction().execute(async (tx) => {
    const kept = await tx
      .selectFrom('node_promises')
      .select(['id', 'node_id', 'allocation_id'])
      .where('allocation_id', 'is not', null)
      .execute();
    const good = new Set<string>();
    for (const launch of heads) {
      const promise = kept.find(({ allocation_id }) => allocation_id === launch.id);
      const node = promise && fleet.find(({ nodeId }) => nodeId === promise.node_id);
      if (node && mayServe(requestOf(launch, now), node)) good.add(promise.id);
    }
    const obsolete = kept.filter(({ id }) => !good.has(id)).map(({ id }) => id);
    if (obsolete.length > 0) await tx.deleteFrom('node_promises').where('id', 'in', obsolete).execute();
    const taken = new Set(kept.filter(({ id }) => good.has(id)).map(({ node_id }) => node_id));
    for (const launch of heads) {
      if (kept.some(({ id, allocation_id }) => allocation_id === launch.id && good.has(id))) continue;
      const free = fleet.filter(({ nodeId }) => !taken.has(nodeId));
      const node = nodeToKeep(requestOf(launch, now), free);
      if (!node) continue;
      taken.add(node.nodeId);
      await tx
        .insertInto('node_promises')
        .values({
          id: newId(),
          node_id: node.nodeId,
          holder_id: launch.id,
          allocation_id: launch.id,
          starts_at: now,
        })
        .execute();
      services.log.info(
        { allocation_id: launch.id, node_id: node.nodeId },
        'a node is kept for a queued launch',
      );
    }
  });
}
