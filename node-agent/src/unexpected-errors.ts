import { isConnectionError } from '@gpuaas/contracts/connection-error';
import { errorMessage, type Logger } from './logger.ts';

/**
 * A broken connection is not a broken agent, also where nobody handled its error. Anything else ends the process: its
 * service starts it again, and VMs go on meanwhile.
 */
export function endOnUnexpectedErrors(log: Logger): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => {
      const reason = errorMessage(error);
      if (isConnectionError(error)) return log.error({ reason }, 'a connection broke that nobody watched');
      log.fatal({ reason }, 'agent cannot go on');
      process.exit(1);
    });
}
