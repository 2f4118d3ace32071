import type { AgentConfig } from '../config.ts';
import type { Logger } from '../log.ts';
import type { Host } from './host.ts';
import { openLinuxHost } from './linux/linux-host.ts';
import { openSimulatedHost } from './simulated/simulated-host.ts';

export async function openHost(config: AgentConfig, log: Logger): Promise<Host> {
  if (config.host === 'linux') return openLinuxHost({ hostname: config.hostname });
  return await openSimulatedHost(config, log);
}
