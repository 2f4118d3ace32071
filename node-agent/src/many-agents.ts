import { runAgent } from './agent.ts';
import { pause } from './backoff.ts';
import type { AgentConfig } from './config.ts';
import { createLogger, reasonOf } from './log.ts';

const RESTART_AFTER_MS = 1_000;

/**
 * Several agents in one process, each with a state folder of its own, for fleets larger than a machine could
 * run as processes. One that dies comes back as a fresh one, as its service manager would do it.
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
      log.error({ reason: reasonOf(error) }, 'agent ended');
    } finally {
      stop.removeEventListener('abort', end);
    }
    await pause(RESTART_AFTER_MS, stop);
  }
}
