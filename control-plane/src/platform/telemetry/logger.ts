import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import pretty from 'pino-pretty';
import { sanitize, sanitizeFields, sanitizeText } from '@gpuaas/contracts/sanitize';
import { isRecord } from '@gpuaas/contracts/is-record';

export type Logger = PinoLogger;

/** Structured logs; pretty on a terminal. Every line passes the sanitizer. */
export function createLogger(role: string, destination: DestinationStream = defaultDestination()): Logger {
  const logger = pino(
    {
      base: { role },
      level: process.env['GPUAAS_LOG_LEVEL'] ?? 'info',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: sanitizeFields,
      },
      serializers: { err: (error: unknown) => error },
      hooks: {
        logMethod(args, method) {
          method.apply(this, cleanArguments(args) as Parameters<typeof method>);
        },
      },
    },
    destination,
  );
  // pino passes the bindings of a child to no formatter. Children inherit this method.
  const { child } = logger;
  logger.child = function sanitizedChild(this: Logger, bindings, options) {
    return child.call(this, sanitizeFields(bindings), options);
  } as typeof child;
  return logger;
}

/**
 * The formatter sanitizes fields; this sanitizes messages, their arguments, and messages that pino takes from
 * errors.
 */
function cleanArguments([first, ...rest]: unknown[]): unknown[] {
  const others = rest.map((arg) => sanitize(arg));
  if (first instanceof Error)
    return [{ err: first }, ...(others.length > 0 ? others : [sanitizeText(first.message)])];
  if (typeof first === 'string') return [sanitizeText(first), ...others];
  const err = isRecord(first) ? first['err'] : undefined;
  return err instanceof Error && others.length === 0
    ? [first, sanitizeText(err.message)]
    : [first, ...others];
}

function defaultDestination(): DestinationStream {
  if (!process.stderr.isTTY) return pino.destination({ dest: 2, sync: true });
  return pretty({ destination: 2, sync: true, ignore: 'pid,hostname,role', translateTime: 'SYS:HH:MM:ss' });
}
