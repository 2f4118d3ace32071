import { inspect } from 'node:util';
import type { DLogger } from '@dbos-inc/dbos-sdk';
import type { Logger } from '../telemetry/logger.ts';

/** The engine's own chatter, through our logger and one level down. */
export function dbosLogger(log: Logger): DLogger {
  const child = log.child({ part: 'workflows' });
  return {
    info: (entry) => child.debug(text(entry)),
    debug: (entry) => child.trace(text(entry)),
    warn: (entry) => child.warn(text(entry)),
    error: (entry) => child.error({ err: entry }, 'workflow engine'),
  };
}

function text(entry: unknown): string {
  return typeof entry === 'string' ? entry : inspect(entry);
}
