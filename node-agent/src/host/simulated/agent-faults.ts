import { rm } from 'node:fs/promises';
import { sleep } from '../../backoff.ts';
import { createLink, type Link } from '../../link.ts';
import type { Logger } from '../../logger.ts';
import type { Faults } from './faults.ts';
import { bootFile } from './boot-id.ts';
import { openVms } from './vms.ts';

/** Faults of the agent and its machine rather than of a task: clock, network, crash, reboot. */
export interface AgentFaults {
  link: Link;
  localTime(): number;
  /** Called at each stage of a task: under `agent_dies` the agent ends here, once. */
  atStage(): void;
  /** Polls for faults set at run time, until the signal fires. */
  watch(signal: AbortSignal): Promise<void>;
}

export interface AgentFaultOptions {
  dir: string;
  faults: Faults;
  /** Ends the agent as kill -9 would. */
  die: () => void;
  log: Logger;
}

const POLL_MS = 500;
const DAY_MS = 86_400_000;

export function createAgentFaults({ dir, faults, die, log }: AgentFaultOptions): AgentFaults {
  const link = createLink();

  async function reboot(): Promise<void> {
    log.warn('the simulated host reboots');
    faults.consume('host_reboot');
    await (await openVms(dir, null)).cutPower();
    await rm(bootFile(dir), { force: true });
    die();
  }

  return {
    link,
    localTime() {
      if (faults.has('clock_skew')) return Date.now() + DAY_MS;
      return faults.has('clock_skew_back') ? Date.now() - DAY_MS : Date.now();
    },
    atStage() {
      if (!faults.has('agent_dies')) return;
      faults.consume('agent_dies');
      die();
    },
    async watch(signal) {
      while (!signal.aborted) {
        link.set(faults.has('network_cut'));
        if (faults.has('host_reboot')) await reboot();
        await sleep(POLL_MS, signal);
      }
    },
  };
}
