import type { EventPayloads, EventType } from '@gpuaas/contracts/events';
import {
  notificationMessages,
  type NotificationMessage,
  type NotifiedEvent,
} from '@gpuaas/contracts/generated/notifications.ts';
import type { LoggedEvent } from '../../platform/events/event-log.ts';

/** An event with its payload by type. */
export type Happened = {
  [T in NotifiedEvent & EventType]: {
    type: T;
    eventId: string;
    organizationId: string | null;
    correlationId: string;
    payload: EventPayloads[T];
  };
}[NotifiedEvent & EventType];

export const notifiedEvents = Object.keys(notificationMessages) as (NotifiedEvent & EventType)[];

/** Null for what nobody is told of: a release that its own people asked for is no news to them. */
export function happened({ envelope, organizationId }: LoggedEvent): Happened | null {
  if (!(notifiedEvents as string[]).includes(envelope.event_type)) return null;
  const event = {
    type: envelope.event_type,
    eventId: envelope.event_id,
    organizationId,
    correlationId: envelope.correlation_id,
    payload: envelope.payload,
  } as unknown as Happened;
  if (event.type === 'allocation.release_requested' && event.payload.cause === undefined) return null;
  return event;
}

export function messageOf(event: Happened): NotificationMessage {
  return notificationMessages[event.type];
}
