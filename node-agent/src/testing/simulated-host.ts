import type { TaskKind } from '@gpuaas/contracts/tasks';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { readConfig } from '../config.ts';
import type { Host, Step } from '../host/host.ts';
import { openFaults } from '../host/simulated/faults.ts';
import { openSimulatedHost } from '../host/simulated/simulated-host.ts';
import { openHostLease } from '../host-lease.ts';
import { openSlotLeases } from '../slot-leases.ts';
import type { TaskContext, TaskTools } from '../tasks/task-context.ts';
import { WorkUnderWay } from '../tasks/work-under-way.ts';
import { GuestStreams } from '../tunnel/guest-streams.ts';

export const HOSTNAME = 'sim-test-01';
export const silent = pino({ level: 'silent' });

export interface TestHost extends TaskTools {
  context: TaskContext<TaskKind>;
  stages: string[];
  /** Another agent process over the same state folder would see this. */
  reopen(): Promise<Host>;
  close(): Promise<void>;
}

/** A simulated host without delays in a folder of its own. */
export async function openTestHost(faults = ''): Promise<TestHost> {
  const dir = await mkdtemp(join(tmpdir(), 'gpuaas-agent-'));
  const config = readConfig({
    GPUAAS_AGENT_DIR: dir,
    GPUAAS_AGENT_HOSTNAME: HOSTNAME,
    GPUAAS_SIM_SPEED: '0',
    GPUAAS_SIM_FAULTS: faults,
  });
  const { has } = openFaults(dir, HOSTNAME, config.simulation.faults);
  const host = await openSimulatedHost(config, has, silent);
  const stages: string[] = [];
  const { signal } = new AbortController();
  const step: Step = { signal, percent: () => undefined };
  return {
    dir,
    host,
    stages,
    leases: await openSlotLeases(dir),
    hostLease: await openHostLease(dir),
    streams: new GuestStreams(),
    underWay: new WorkUnderWay(),
    context: {
      signal,
      log: silent,
      stage(stage) {
        stages.push(stage);
        return step;
      },
    },
    reopen: () => openSimulatedHost(config, has, silent),
    async close() {
      for (const vm of await host.listVms()) await host.removeVm(vm.allocation_id, 0, step);
      await rm(dir, { recursive: true, force: true });
    },
  };
}
