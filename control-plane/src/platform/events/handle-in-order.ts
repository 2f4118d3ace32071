import type { Consumer } from './consumer.ts';
import type { LoggedEvent } from './event-log.ts';

/**
 * One event after the other, or all of them at once where the consumer can; those of other types count as done. What
 * fails together is tried one by one, so that only the event that is to blame holds the consumer.
 */
export function handleInOrder(consumer: Consumer) {
  const types: ReadonlySet<string> | null = consumer.types ? new Set(consumer.types) : null;
  const isWanted = ({ envelope }: LoggedEvent): boolean => !types || types.has(envelope.event_type);
  return async (
    events: LoggedEvent[],
    done: (event: LoggedEvent) => void,
    signal: AbortSignal,
  ): Promise<void> => {
    if (await handledTogether(consumer, events.filter(isWanted))) return done(events.at(-1)!);
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
