import type { EventPayloads, EventType } from '@gpuaas/contracts/events';
import {
  notificationMessages,
  type NotificationMessage,
  type NotifiedEvent,
} from '@gpuaas/contracts/generated/notifications.ts';
import { isKeyOf, keysOf } from '@gpuaas/contracts/typed-keys';
import type { LoggedEvent } from '../../platform/events/event-log.ts';

/** An event with its payload by type. */
export type NotifiableEvent = {
  [T in NotifiedEvent & EventType]: {
    type: T;
    eventId: string;
    organizationId: string | null;
    correlationId: string;
    payload: EventPayloads[T];
  };
}[NotifiedEvent & EventType];

export const notifiedEvents = keysOf(notificationMessages);

/** Null for an event without recipients: people who requested a release are not notified of it. */
export function toNotifiableEvent({ envelope, organizationId }: LoggedEvent): NotifiableEvent | null {
  if (!isKeyOf(notificationMessages, envelope.event_type)) return null;
  const event = {
    type: envelope.event_type,
    eventId: envelope.event_id,
    organizationId,
    correlationId: envelope.correlation_id,
    payload: envelope.payload,
  } as unknown as NotifiableEvent;
  if (event.type === 'allocation.release_requested' && event.payload.cause === undefined) return null;
  return event;
}

export function messageFor(event: NotifiableEvent): NotificationMessage {
  return notificationMessages[event.type];
}
