import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import pretty from 'pino-pretty';
import { sanitize, sanitizeText } from './sanitize.ts';

export type Logger = PinoLogger;

/** Structured logs; pretty on a terminal. Every line passes the sanitizer. */
export function createLogger(role: string, destination: DestinationStream = defaultDestination()): Logger {
  return pino(
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
          const clean = args.map((arg: unknown) => (typeof arg === 'string' ? sanitizeText(arg) : arg));
          method.apply(this, clean as Parameters<typeof method>);
        },
      },
    },
    destination,
  );
}

function defaultDestination(): DestinationStream {
  if (!process.stderr.isTTY) return pino.destination({ dest: 2, sync: true });
  return pretty({ destination: 2, sync: true, ignore: 'pid,hostname,role', translateTime: 'SYS:HH:MM:ss' });
}
