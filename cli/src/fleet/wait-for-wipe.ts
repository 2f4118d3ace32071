import type { GpuaasClient } from '@gpuaas/sdk/client';
import type { components } from '@gpuaas/sdk/contract';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';
import { pollUntil } from '../poll-until.ts';
import type { Session } from '../session.ts';

type Slot = components['schemas']['ResourceSlot'];

/** Waits until the wipe of a quarantined slot has ended, well or not. */
export async function waitForWipe({ client }: Pick<Session, 'client'>, { id, node_id }: Slot): Promise<Slot> {
  const path = { node_id };
  const slot = await pollUntil({
    poll: async () => {
      if (await isBeingCleaned(client, id)) return 'wiping';
      const { items } = await unwrap(
        client.GET('/api/v1/admin/nodes/{node_id}/resource-slots', { params: { path } }),
      );
      return items.find((one) => one.id === id);
    },
    isSettled: (one) => one === undefined || (one !== 'wiping' && one.state !== 'cleaning'),
    goesOn: 'The wipe continues: gpuaas admin unblock',
  });
  if (slot === undefined || slot === 'wiping') throw new Error('the slot no longer exists on the host');
  if (slot.state === 'cleanup_blocked')
    throw new Error('wipe not verified; see the evidence with gpuaas admin unblock');
  return slot;
}

async function isBeingCleaned(client: GpuaasClient, slotId: string): Promise<boolean> {
  const queue = paginate((page) =>
    unwrap(client.GET('/api/v1/admin/cleanup-queue', { params: { query: { limit: 200, ...page } } })),
  );
  for await (const { slot, running } of queue) if (slot.id === slotId) return running;
  return false;
}
