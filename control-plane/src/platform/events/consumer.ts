import type { EventType } from '@gpuaas/contracts/events';
import type { LoggedEvent } from './event-log.ts';

/**
 * A durable reader of events. Each event is handled at least once; events of one subject arrive in order; one
 * process at a time runs a consumer. Effects must be safe to repeat: see `handleOnce`.
 */
export interface Consumer {
  /** Names the cursor; never reuse it for another purpose. */
  name: string;
  /** Event types to handle; all types if omitted. */
  types?: readonly EventType[];
  /** Where a consumer without a cursor starts. */
  startFrom: 'beginning' | 'now';
  /** A throw holds the consumer at this event and retries later; after several tries the event is parked. */
  handle(event: LoggedEvent): Promise<void>;
  /** Handles several events in order, where one call is cheaper. After a throw each is handled individually. */
  handleTogether?(events: readonly LoggedEvent[]): Promise<void>;
}

/** Interface of consumers to the transport of events. */
export interface Bus {
  readonly kind: 'embedded' | 'nats';
  consume(consumer: Consumer): Promise<Consumption>;
  /** For readiness: describes the connection, or throws the reason why events do not arrive. */
  check(): Promise<string>;
  /** Stops every consumer started here. */
  close(): Promise<void>;
}

export interface Consumption {
  /** Finishes the current event and gives the lease to the next process. */
  stop(): Promise<void>;
}
