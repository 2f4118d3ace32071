import type { EventType } from '@gpuaas/contracts/events';
import type { LoggedEvent } from './event-log.ts';

/**
 * A durable reader of events. Each event is handled at least once; events of one subject arrive in order; one
 * process at a time runs a consumer. Effects must bear repetition: see `handleOnce`.
 */
export interface Consumer {
  /** Names the cursor; never reuse it for another purpose. */
  name: string;
  /** Only these; every type when absent. */
  types?: readonly EventType[];
  /** Where a consumer begins that has no cursor yet. */
  startFrom: 'beginning' | 'now';
  /** A throw holds the consumer at this event and tries again later. */
  handle(event: LoggedEvent): Promise<void>;
  /** The same for several in their order, where that costs less. After a throw each is handled by itself. */
  handleTogether?(events: readonly LoggedEvent[]): Promise<void>;
}

/** What consumers rely on, whichever way events travel. */
export interface Bus {
  readonly kind: 'embedded' | 'nats';
  consume(consumer: Consumer): Promise<Consumption>;
  /** For readiness: says how well events get through, or throws with the reason why they do not. */
  check(): Promise<string>;
  /** Stops every consumer started here. */
  close(): Promise<void>;
}

export interface Consumption {
  /** Finishes the event in hand and gives the lease to the next process. */
  stop(): Promise<void>;
}
