import { Backoff } from '../backoff.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { CrashPoint } from '../crash-point.ts';
import { ServerRefusedError } from '../http-json.ts';
import { errorMessage, type Logger } from '../logger.ts';
import type { Journal, JournalEntry } from './journal.ts';

export interface Delivery {
  controlPlane: ControlPlane;
  journal: Journal;
  crashPoint: CrashPoint;
  log: Logger;
  signal: AbortSignal;
}

/**
 * Sends the outcome until the server has it or no longer wants it; unsent outcomes are sent after a restart.
 */
export async function deliverOutcome(entry: JournalEntry, delivery: Delivery): Promise<void> {
  const { controlPlane, journal, crashPoint, signal } = delivery;
  if (!entry.outcome) throw new Error(`task ${entry.task_id} has no outcome yet`);
  const log = delivery.log.child({ task_id: entry.task_id, correlation_id: entry.correlation_id });
  crashPoint(entry.kind, 'recorded');
  const backoff = new Backoff(250, 30_000);
  while (!signal.aborted) {
    try {
      await controlPlane.completeTask(entry, { epoch: entry.epoch, ...entry.outcome });
      crashPoint(entry.kind, 'delivered');
      await journal.markDelivered(entry.task_id, entry.epoch);
      log.info({ outcome: entry.outcome.outcome, code: entry.outcome.error?.code }, 'outcome delivered');
      return;
    } catch (error) {
      if (error instanceof ServerRefusedError && (error.status === 409 || error.status === 404)) {
        log.warn({ reason: error.message }, 'outcome no longer wanted');
        return await journal.markDelivered(entry.task_id, entry.epoch);
      }
      if (!signal.aborted) log.warn({ reason: errorMessage(error) }, 'outcome not delivered yet');
      await backoff.wait(signal);
    }
  }
}
