import { readCount, type Environment } from '../environment.ts';

export interface Settings {
  /** Callers must send it; undefined behind the gateway, which checks callers itself. */
  apiKey: string | undefined;
  concurrency: number;
  queue: number;
  /** Null for as fast as possible. */
  tokensPerSecond: number | null;
}

export function readSettings(env: Environment): Settings {
  return {
    apiKey: env['PARAM_API_KEY'] || undefined,
    concurrency: readCount(env, 'PARAM_CONCURRENCY', 4, 1),
    queue: readCount(env, 'PARAM_QUEUE', 32),
    tokensPerSecond: readCount(env, 'PARAM_TOKENS_PER_SECOND', 0) || null,
  };
}
