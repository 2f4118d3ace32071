import { unwrap } from '@gpuaas/sdk/problem';
import { client } from '../client.ts';
import { pagedQuery } from '../paged.ts';
import { operatorKeys } from '../query-keys.ts';

export const cleanupQueueQuery = pagedQuery(operatorKeys.cleanup, (page, signal) =>
  unwrap(client.GET('/api/v1/admin/cleanup-queue', { params: { query: page }, signal })),
);

export function retryCleanup(slotId: string) {
  return unwrap(client.POST('/api/v1/admin/cleanup-queue/{slot_id}/retry', { params: at(slotId) }));
}

/** Confirms that data of another use is destroyed with the slot's own. */
export function destroyForeignData(slotId: string) {
  return unwrap(
    client.POST('/api/v1/admin/cleanup-queue/retry-many', {
      body: { slot_ids: [slotId], destroy_foreign_data: true },
    }),
  );
}

/** Retries the wipes of many slots, of the leases' own data only. */
export function retryCleanups(slotIds: readonly string[]) {
  return unwrap(client.POST('/api/v1/admin/cleanup-queue/retry-many', { body: { slot_ids: [...slotIds] } }));
}

export interface WipeProof {
  slotId: string;
  deviceSerial: string;
  method: string;
  evidence: string;
}

export function recordWipeProof({ slotId, deviceSerial, method, evidence }: WipeProof) {
  return unwrap(
    client.POST('/api/v1/admin/cleanup-queue/{slot_id}/record-proof', {
      params: at(slotId),
      body: { device_serial: deviceSerial, method, evidence },
    }),
  );
}

export function retireSlot({ slotId, reason }: { slotId: string; reason: string }) {
  return unwrap(
    client.POST('/api/v1/admin/cleanup-queue/{slot_id}/retire', { params: at(slotId), body: { reason } }),
  );
}

function at(slotId: string) {
  return { path: { slot_id: slotId } };
}
