import { createClient } from '@redis/client';
import { keptCredential, parseCredential } from '../../../platform/auth/serialize-credential.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { MachineAccess } from '../machine-door.ts';
import type { TerminalTokens } from './terminal-tokens.ts';

const ANSWER_TIMEOUT_MS = 3_000;

export interface RedisTokens extends TerminalTokens {
  /** Throws when Redis does not answer. */
  check(): Promise<void>;
  close(): void;
}

/**
 * Under `terminal_token:{token}`, which Redis expires. A read removes it, so only one of several concurrent
 * readers gets it.
 */
export function redisTokens(url: string, log: Logger): RedisTokens {
  const client = createClient({
    url,
    // A terminal that cannot be opened now is refused now.
    disableOfflineQueue: true,
    socket: { connectTimeout: ANSWER_TIMEOUT_MS, reconnectStrategy: (tries) => Math.min(tries * 100, 2_000) },
  });
  client.on('error', (error: unknown) => log.warn({ err: error }, 'Redis cannot be reached'));
  // The client keeps retrying; the platform starts without it.
  client.connect().catch(() => undefined);
  const ask = async <T>(command: Promise<T>): Promise<T> => {
    try {
      return await withinTime(command);
    } catch (error) {
      throw new Problem('terminal_unavailable', 'Terminal tokens cannot be kept at the moment.', {
        retryAfterSeconds: 5,
        cause: error,
      });
    }
  };
  return {
    async keep(_tx, token, access, ttlSeconds) {
      const content = {
        ...access,
        credential: keptCredential(access.credential),
      };
      const expiration = { type: 'EX' as const, value: ttlSeconds };
      await ask(client.set(keyOf(token), JSON.stringify(content), { expiration }));
    },
    async consume(token) {
      const text = await ask(client.getDel(keyOf(token)));
      if (text === null) return null;
      const access: MachineAccess = JSON.parse(text);
      return { ...access, credential: parseCredential(access.credential) };
    },
    async check() {
      await withinTime(client.ping());
    },
    close() {
      client.destroy();
    },
  };
}

function keyOf(token: string): string {
  return `terminal_token:${token}`;
}

async function withinTime<T>(command: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), ANSWER_TIMEOUT_MS);
  try {
    return await Promise.race([command, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
