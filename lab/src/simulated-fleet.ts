import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';
import type { LabLog } from './lab-log.ts';
import { startSharedMachines } from './shared-machines.ts';
import { startMachine } from './simulated-machine.ts';

export interface SimulatedFleetOptions {
  count: number;
  /** The https address of the node port. */
  serverUrl: string;
  /** Each host stores its state in a folder with its name in here. */
  stateDir: string;
  /** 1 = believable timings, 0 = no delays. */
  speed: number;
  /** As GPUAAS_SIM_FAULTS: names with commas, `name@hostname` for one host. */
  faults?: string;
  /** An operator's client: it mints the enrolment tokens. */
  client: GpuaasClient;
  region: string;
  log: LabLog;
  /** All agents in one process, for fleets that would not fit as processes. */
  oneProcess?: boolean;
  /** Further settings of the agents, for tests. */
  agentEnv?: Record<string, string>;
}

export interface SimulatedFleet {
  nodes: { hostname: string; pid(): number | null }[];
  /**
   * The agent restarts automatically; its VMs are not affected. With a shared process this kills all agents.
   */
  killAgent(hostname: string, signal: NodeJS.Signals): void;
  /** Stops the agents and cuts the power. */
  stop(): Promise<void>;
}

const ENROL_DEADLINE_MS = 90_000;
const ENROL_EACH_MS = 1_000;

/** Simulated 8-GPU hosts run by real node agents. Resolves when all have enrolled. */
export async function startSimulatedFleet(options: SimulatedFleetOptions): Promise<SimulatedFleet> {
  const bootId = randomUUID();
  const hostnames = Array.from(
    { length: options.count },
    (_, index) => `sim-h200-${String(index + 1).padStart(2, '0')}`,
  );
  const env = {
    GPUAAS_AGENT_SERVER: options.serverUrl,
    GPUAAS_SIM_SPEED: String(options.speed),
    GPUAAS_SIM_FAULTS: options.faults ?? '',
    GPUAAS_SIM_BOOT_ID: bootId,
    ...options.agentEnv,
  };
  const hosts = hostnames.map((hostname, index) => ({
    hostname,
    dir: join(options.stateDir, hostname),
    mintToken: () => mintToken(options, hostname, `rack-${Math.floor(index / 4) + 1}`),
  }));
  const machines = options.oneProcess
    ? await startSharedMachines({ hosts, stateDir: options.stateDir, env, log: options.log })
    : await Promise.all(hosts.map((host) => startMachine({ ...host, env, log: options.log })));

  const fleet: SimulatedFleet = {
    nodes: machines.map((machine) => ({ hostname: machine.hostname, pid: () => machine.pid() })),
    killAgent(hostname, signal) {
      const machine = machines.find((one) => one.hostname === hostname);
      if (!machine) throw new Error(`there is no simulated host ${hostname}`);
      machine.kill(signal);
    },
    async stop() {
      await Promise.all(machines.map((machine) => machine.stop()));
    },
  };
  try {
    await Promise.all(
      machines.map((machine) => machine.enrolled(ENROL_DEADLINE_MS + machines.length * ENROL_EACH_MS)),
    );
  } catch (error) {
    await fleet.stop();
    throw error;
  }
  return fleet;
}

async function mintToken(
  { client, region }: SimulatedFleetOptions,
  hostname: string,
  rack: string,
): Promise<string> {
  const body = { hostname, region, rack, pool: 'default', node_family: 'hgx-h200' };
  const { token } = await unwrap(client.POST('/api/v1/admin/node-enrolments', { body }));
  if (!token) throw new Error(`no enrolment token was shown for ${hostname}`);
  return token;
}
