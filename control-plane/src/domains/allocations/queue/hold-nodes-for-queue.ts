import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { FleetNode } from '../../fleet/index/placement-candidates.ts';
import { couldServe, chooseNodeToHold } from '../../placement/choose-node-to-hold.ts';
import { queuedPlacementRequest, type QueuedLaunch } from './load-launch-queues.ts';

/**
 * Holds a node for each launch of a queue that has waited long, in queue order, so that smaller launches no
 * longer take what comes free there. A launch that no node can serve, or whose node never comes free, does
 * not stop the launches behind it from getting a node. A node that can no longer serve is exchanged.
 */
export async function holdNodesForQueue(
  services: Services,
  lines: readonly (readonly QueuedLaunch[])[],
  fleet: readonly FleetNode[],
): Promise<void> {
  const now = services.clock.now();
  const percent = services.policies.get('queue.kept_nodes_percent');
  await services.db.transaction().execute(async (tx) => {
    const kept = await tx
      .selectFrom('node_promises')
      .select(['id', 'node_id', 'allocation_id'])
      .where('allocation_id', 'is not', null)
      .execute();
    // Holds for queued launches are chosen again for the whole queue, so the old ones do not count here.
    const inLine = new Set(kept.map(({ allocation_id }) => allocation_id!));
    const nodes = fleet.map(({ promises = [], ...node }) => ({
      ...node,
      promises: promises.filter(({ holder }) => !inLine.has(holder)),
    }));
    const chosen = lines.flatMap((line) => chooseNodes(line, nodes, { now, percent, kept }));
    const good = new Set(chosen.flatMap(({ promiseId }) => promiseId ?? []));
    const obsolete = kept.filter(({ id }) => !good.has(id)).map(({ id }) => id);
    if (obsolete.length > 0) await tx.deleteFrom('node_promises').where('id', 'in', obsolete).execute();
    for (const { launch, nodeId, promiseId } of chosen) {
      if (promiseId !== null) continue;
      await tx
        .insertInto('node_promises')
        .values({
          id: newId(),
          node_id: nodeId,
          holder_id: launch.id,
          allocation_id: launch.id,
          starts_at: now,
        })
        .execute();
      services.log.info({ allocation_id: launch.id, node_id: nodeId }, 'a node is held for a queued launch');
    }
  });
}

interface Kept {
  id: string;
  node_id: string;
  allocation_id: string | null;
}

interface Chosen {
  launch: QueuedLaunch;
  nodeId: string;
  /** Null if the node is not held for it yet. */
  promiseId: string | null;
}

/** A node for each launch of one queue, in order, while enough nodes are left for the others. */
function chooseNodes(
  line: readonly QueuedLaunch[],
  fleet: readonly FleetNode[],
  { now, percent, kept }: { now: Date; percent: number; kept: readonly Kept[] },
): Chosen[] {
  const chosen: Chosen[] = [];
  const taken = new Set<string>();
  for (const launch of line) {
    const request = queuedPlacementRequest(launch, now);
    const able = fleet.filter((node) => couldServe(request, node));
    if (chosen.length >= Math.max(1, Math.floor((able.length * percent) / 100))) break;
    const promise = kept.find(({ allocation_id }) => allocation_id === launch.id);
    const before = promise && able.find(({ nodeId }) => nodeId === promise.node_id && !taken.has(nodeId));
    const node =
      before ??
      chooseNodeToHold(
        request,
        able.filter(({ nodeId }) => !taken.has(nodeId)),
      );
    if (!node) continue;
    taken.add(node.nodeId);
    chosen.push({ launch, nodeId: node.nodeId, promiseId: before ? promise.id : null });
  }
  return chosen;
}
