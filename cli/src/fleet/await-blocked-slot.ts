import type { GpuaasClient } from '@gpuaas/sdk/client';
import type { components } from '@gpuaas/sdk/contract';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';
import { pollUntil } from '../poll-until.ts';
import type { Session } from '../session.ts';

type Slot = components['schemas']['ResourceSlot'];

/** Waits until the wipe of a quarantined slot has ended, well or not. */
export async function awaitBlockedSlot(
  { client }: Pick<Session, 'client'>,
  { id, node_id }: Slot,
): Promise<Slot> {
  const path = { node_id };
  const slot = await pollUntil({
    look: async () => {
      if (await isBeingCleaned(client, id)) return 'being cleaned';
      const { items } = await unwrap(
        client.GET('/api/v1/admin/nodes/{node_id}/resource-slots', { params: { path } }),
      );
      return items.find((one) => one.id === id);
    },
    isSettled: (one) => one === undefined || (one !== 'being cleaned' && one.state !== 'cleaning'),
    goesOn: 'The host goes on cleaning: gpuaas admin unblock',
  });
  if (slot === undefined || slot === 'being cleaned')
    throw new Error('the slot is no longer one of the host');
  if (slot.state === 'cleanup_blocked')
    throw new Error('the wipe was not proven; gpuaas admin unblock shows the evidence');
  return slot;
}

async function isBeingCleaned(client: GpuaasClient, slotId: string): Promise<boolean> {
  const queue = paginate((page) =>
    unwrap(client.GET('/api/v1/admin/cleanup-queue', { params: { query: { limit: 200, ...page } } })),
  );
  for await (const { slot, running } of queue) if (slot.id === slotId) return running;
  return false;
}
