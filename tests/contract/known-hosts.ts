import type { TestApi } from '../harness/api.ts';
import { addDiscovery, addNode, candidate } from '../harness/fleet/fleet.ts';
import type { KnownValues } from './known-resources.ts';

/** A host in baremetal mode that is discovered and not offered yet. */
export async function seedHostForBaremetal(api: TestApi): Promise<KnownValues> {
  const nodeId = await addNode(api);
  const { db } = api.services;
  await db.updateTable('nodes').set({ mode: 'baremetal' }).where('id', '=', nodeId).execute();
  const found = Array.from({ length: 8 }, (_, index) => candidate(index));
  return { node_id: [nodeId], discovery_task_id: [await addDiscovery(api, nodeId, found)] };
}
