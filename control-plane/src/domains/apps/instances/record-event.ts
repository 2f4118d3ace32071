import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { AppReason } from '@gpuaas/contracts/generated/reasons.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { AppInstances } from '../../../platform/db/generated/schema.ts';
import { emit } from '../../../platform/events/emit.ts';
import { newId } from '../../../platform/ids.ts';

export type InstanceRow = Selectable<AppInstances>;
export type AppEventType = components['schemas']['AppEventType'];

export interface NewAppEvent {
  type: AppEventType;
  message: string;
  reason?: AppReason | null;
  memberId?: string;
  payload?: Record<string, unknown>;
}

/**
 * Writes an event of an instance and emits it, in the transaction of the change. The instance must be locked, so that its
 * events stay in order; `instance` is how it is after the change.
 */
export async function recordAppEvent(
  tx: Tx,
  now: Date,
  instance: InstanceRow,
  { type, message, reason = null, memberId, payload = {} }: NewAppEvent,
): Promise<void> {
  const id = newId();
  const text = message.slice(0, 500);
  await tx
    .insertInto('app_instance_events')
    .values({
      id,
      organization_id: instance.organization_id,
      instance_id: instance.id,
      member_id: memberId ?? null,
      event_type: type,
      message: text,
      reason,
      payload: JSON.stringify(payload),
      occurred_at: now,
    })
    .execute();
  await emit(tx, {
    type: 'app_instance.event',
    subjectId: instance.id,
    organizationId: instance.organization_id,
    correlationId: instance.correlation_id,
    payload: {
      app_instance_id: instance.id,
      organization_id: instance.organization_id,
      project_id: instance.project_id,
      app_slug: instance.app_slug,
      app_event_id: id,
      event_type: type,
      status: instance.status,
      reason,
      message: text,
    },
  });
}
