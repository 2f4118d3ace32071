import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { FleetNode } from '../../fleet/placement-candidates.ts';
import { mayServe, nodeToKeep } from '../../placement/node-to-keep.ts';
import { requestOf, type QueuedLaunch } from './read-line.ts';

/**
 * Keeps nodes for launches of each line that have waited long, in their order, and for nobody else in line: what comes
 * free there is not given to smaller ones any more. One that no node can serve, or whose node never comes free, does not
 * leave those behind it to be passed for ever. A node that can no longer serve is exchanged.
 */
export async function keepNodes(
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
    // What is kept for one in line is chosen anew for all of them, so it stands in nobody's way here.
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
      services.log.info({ allocation_id: launch.id, node_id: nodeId }, 'a node is kept for a queued launch');
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
  /** Null when the node is not kept for it yet. */
  promiseId: string | null;
}

/** A node for each launch of one line, first come first served, as long as enough is left for the others. */
function chooseNodes(
  line: readonly QueuedLaunch[],
  fleet: readonly FleetNode[],
  { now, percent, kept }: { now: Date; percent: number; kept: readonly Kept[] },
): Chosen[] {
  const chosen: Chosen[] = [];
  const taken = new Set<string>();
  for (const launch of line) {
    const request = requestOf(launch, now);
    const able = fleet.filter((node) => mayServe(request, node));
    if (chosen.length >= Math.max(1, Math.floor((able.length * percent) / 100))) break;
    const promise = kept.find(({ allocation_id }) => allocation_id === launch.id);
    const before = promise && able.find(({ nodeId }) => nodeId === promise.node_id && !taken.has(nodeId));
    const node =
      before ??
      nodeToKeep(
        request,
        able.filter(({ nodeId }) => !taken.has(nodeId)),
      );
    if (!node) continue;
    taken.add(node.nodeId);
    chosen.push({ launch, nodeId: node.nodeId, promiseId: before ? promise.id : null });
  }
  return chosen;
}
