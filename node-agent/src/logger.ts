import { pino, type Logger } from 'pino';
import { sanitizeFields, sanitizeText } from '@gpuaas/contracts/sanitize';

export type { Logger } from 'pino';

/** Every line passes the sanitizer. */
export function createLogger(hostname: string): Logger {
  return pino({
    base: { hostname },
    level: process.env['GPUAAS_LOG_LEVEL'] ?? 'info',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (level) => ({ level }),
      log: sanitizeFields,
    },
    hooks: {
      logMethod(args, method) {
        const clean = args.map((arg: unknown) => (typeof arg === 'string' ? sanitizeText(arg) : arg));
        method.apply(this, clean as Parameters<typeof method>);
      },
    },
  });
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
