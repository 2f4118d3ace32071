import type { AgentConfig } from '../config.ts';
import { UNCUT, type Link } from '../link.ts';
import type { Logger } from '../log.ts';
import type { Host } from './host.ts';
import { openLinuxHost } from './linux/linux-host.ts';
import { openFaults } from './simulated/faults.ts';
import { createMishaps } from './simulated/mishaps.ts';
import { openSimulatedHost } from './simulated/simulated-host.ts';

/** A machine, and what may befall an agent on it. Nothing is made to happen on a real one. */
export interface Machine {
  host: Host;
  link: Link;
  localTime(): number;
  atStage(): void;
  watch(signal: AbortSignal): Promise<void>;
}

export async function openHost(config: AgentConfig, log: Logger, die: () => void): Promise<Machine> {
  if (config.host === 'linux') {
    const host = openLinuxHost({ hostname: config.hostname, dir: config.dir, settings: config.linux });
    await host.recover(log);
    return {
      host,
      link: UNCUT,
      localTime: Date.now,
      atStage: () => undefined,
      watch: () => Promise.resolve(),
    };
  }
  const faults = openFaults(config.dir, config.hostname, config.simulation.faults);
  const host = await openSimulatedHost(config, faults.has, log);
  return { host, ...createMishaps({ dir: config.dir, faults, die, log }) };
}
