import type { AppReason } from '@gpuaas/contracts/generated/reasons.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { beginEnding } from './begin-ending.ts';
import { endUnstarted } from './end-unstarted.ts';
import { lockInstance } from './move-instance.ts';
import type { InstanceRow } from './record-event.ts';

/** Wants an instance stopped, for whatever reason; one that ends already keeps its ending. */
export async function requestStop(
  services: Pick<Services, 'clock' | 'policies' | 'workflows'>,
  tx: Tx,
  instanceId: string,
  { reason, message }: { reason: AppReason; message: string },
): Promise<InstanceRow> {
  const instance = await lockInstance(tx, instanceId);
  if (instance.ended_at !== null || instance.desired === 'stop') return instance;
  const end = { ending: 'stopped', reason, message } as const;
  if (instance.status === 'created') return await endUnstarted(tx, services.clock.now(), instance, end);
  if (!(await beginEnding(services, tx, instance, end)))
    await tx.updateTable('app_instances').set({ desired: 'stop' }).where('id', '=', instanceId).execute();
  return await lockInstance(tx, instanceId);
}
