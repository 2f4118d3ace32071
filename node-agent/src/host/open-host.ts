import type { AgentConfig } from '../config.ts';
import { ALWAYS_CONNECTED, type Link } from '../link.ts';
import type { Logger } from '../logger.ts';
import type { Host } from './host.ts';
import { openLinuxHost } from './linux/linux-host.ts';
import { openFaults } from './simulated/faults.ts';
import { createAgentFaults } from './simulated/agent-faults.ts';

/** A machine and the faults that can be injected into its agent. A real machine has none. */
export interface OpenedHost {
  host: Host;
  link: Link;
  localTime(): number;
  atStage(): void;
  watch(signal: AbortSignal): Promise<void>;
}

export async function openHost(config: AgentConfig, log: Logger, die: () => void): Promise<OpenedHost> {
  if (config.host === 'linux') {
    const host = openLinuxHost({ hostname: config.hostname, dir: config.dir, settings: config.linux });
    await host.recover(log);
    return {
      host,
      link: ALWAYS_CONNECTED,
      localTime: Date.now,
      atStage: () => undefined,
      watch: () => Promise.resolve(),
    };
  }
  // Loaded here alone: simulated guests need a native pty, which a real host does not install.
  const { openSimulatedHost } = await import('./simulated/simulated-host.ts');
  const faults = openFaults(config.dir, config.hostname, config.simulation.faults);
  const host = await openSimulatedHost(config, faults.has, log);
  return { host, ...createAgentFaults({ dir: config.dir, faults, die, log }) };
}
