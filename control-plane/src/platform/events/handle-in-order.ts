import type { Consumer } from './consumer.ts';
import type { LoggedEvent } from './event-log.ts';
import { last } from '../present.ts';

/**
 * Handles events one by one, or together if the consumer can; events of other types count as done. Events
 * that fail together are retried one by one, so that only the failing event holds the consumer.
 */
export function handleInOrder(consumer: Consumer) {
  const types: ReadonlySet<string> | null = consumer.types ? new Set(consumer.types) : null;
  const isWanted = ({ envelope }: LoggedEvent): boolean => !types || types.has(envelope.event_type);
  return async (
    events: LoggedEvent[],
    done: (event: LoggedEvent) => void,
    signal: AbortSignal,
  ): Promise<void> => {
    if (await handledTogether(consumer, events.filter(isWanted))) return done(last(events, 'event'));
    for (const event of events) {
      if (signal.aborted) return;
      if (isWanted(event)) await consumer.handle(event);
      done(event);
    }
  };
}

async function handledTogether(consumer: Consumer, wanted: readonly LoggedEvent[]): Promise<boolean> {
  if (!consumer.handleTogether || wanted.length < 2) return false;
  try {
    await consumer.handleTogether(wanted);
    return true;
  } catch {
    return false;
  }
}
