import { runAgent } from './agent.ts';
import { sleep } from './backoff.ts';
import type { AgentConfig } from './config.ts';
import { createLogger, errorMessage } from './logger.ts';

const RESTART_AFTER_MS = 1_000;

/**
 * Several agents in one process, each with its own state folder, for fleets larger than a machine could run
 * as processes. An agent that dies is restarted, as its service manager would do.
 */
export async function runAgents(configs: readonly AgentConfig[], stop: AbortSignal): Promise<void> {
  await Promise.all(configs.map((config) => superviseAgent(config, stop)));
}

async function superviseAgent(config: AgentConfig, stop: AbortSignal): Promise<void> {
  const log = createLogger(config.hostname);
  while (!stop.aborted) {
    const own = new AbortController();
    const end = (): void => own.abort();
    stop.addEventListener('abort', end, { once: true });
    try {
      await runAgent({ config, log, stop: own, die: end });
    } catch (error) {
      log.error({ reason: errorMessage(error) }, 'agent ended');
    } finally {
      stop.removeEventListener('abort', end);
    }
    await sleep(RESTART_AFTER_MS, stop);
  }
}
