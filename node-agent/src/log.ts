import { pino, type Logger } from 'pino';

export type { Logger } from 'pino';

/** Secrets are never passed to the log on purpose; these paths catch a slip. */
const SECRETS = ['token', 'private_key_pem', 'key', 'csr_pem', '*.token', '*.private_key_pem', '*.key'];

export function createLogger(hostname: string): Logger {
  return pino({
    base: { hostname },
    level: process.env['GPUAAS_LOG_LEVEL'] ?? 'info',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level) => ({ level }) },
    redact: { paths: SECRETS, censor: '[secret]' },
  });
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
