import type { Logger } from '../../platform/telemetry/logger.ts';
import type { Config } from '../config.ts';
import { isLoopback } from './loopback.ts';

/** Modes in which PostgreSQL clients require TLS. */
const TLS_MODES = new Set(['require', 'verify-ca', 'verify-full', 'no-verify']);

/** Settings by which this process would connect to another machine without TLS. */
export function unencryptedLinks({
  databaseUrl,
  natsUrl,
  redisUrl,
}: Pick<Config, 'databaseUrl' | 'natsUrl' | 'redisUrl'>): string[] {
  return [
    ...(databaseUrl && leavesMachine(databaseUrl) && !databaseHasTls(databaseUrl) ? ['DATABASE_URL'] : []),
    ...(natsUrl?.split(',').some((url) => leavesMachine(url) && !/^(?:tls|wss):/.test(url.trim()))
      ? ['NATS_URL']
      : []),
    ...(redisUrl && leavesMachine(redisUrl) && !redisUrl.startsWith('rediss:') ? ['REDIS_URL'] : []),
  ];
}

export function warnOfUnencryptedLinks(config: Config, log: Logger): void {
  for (const setting of unencryptedLinks(config))
    log.warn(
      { setting },
      'a connection to another machine has no TLS: passwords and data can be read on the way',
    );
}

function databaseHasTls(url: string): boolean {
  const { searchParams } = new URL(url);
  return TLS_MODES.has(searchParams.get('sslmode') ?? '') || searchParams.get('ssl') === 'true';
}

function leavesMachine(text: string): boolean {
  const url = URL.parse(text.trim().replace(/^(?![a-z]+:\/\/)/i, 'none://'));
  if (!url) return false;
  // A Unix socket of this machine: its folder is given as the host.
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname);
  return host !== '' && !host.startsWith('/') && !isLoopback(host);
}
