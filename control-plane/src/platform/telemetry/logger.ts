import { pino, type Bindings, type DestinationStream, type Logger as PinoLogger } from 'pino';
import pretty from 'pino-pretty';
import { sanitize, sanitizeText } from '@gpuaas/contracts/sanitize';

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
        log: (fields) => sanitize(fields) as Record<string, unknown>,
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
  // pino hands what a child carries to no formatter. Children inherit this method.
  const { child } = logger;
  logger.child = function sanitizedChild(this: Logger, bindings, options) {
    return child.call(this, sanitize(bindings) as Bindings, options);
  } as typeof child;
  return logger;
}

/** Fields are cleaned by the formatter; messages, what is put into them, and those pino takes from errors are cleaned here. */
function cleanArguments([first, ...rest]: unknown[]): unknown[] {
  const others = rest.map((arg) => sanitize(arg));
  if (first instanceof Error)
    return [{ err: first }, ...(others.length > 0 ? others : [sanitizeText(first.message)])];
  if (typeof first === 'string') return [sanitizeText(first), ...others];
  const { err } = (first ?? {}) as { err?: unknown };
  return err instanceof Error && others.length === 0
    ? [first, sanitizeText(err.message)]
    : [first, ...others];
}

function defaultDestination(): DestinationStream {
  if (!process.stderr.isTTY) return pino.destination({ dest: 2, sync: true });
  return pretty({ destination: 2, sync: true, ignore: 'pid,hostname,role', translateTime: 'SYS:HH:MM:ss' });
}
