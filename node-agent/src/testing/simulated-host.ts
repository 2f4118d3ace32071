import type { TaskKind } from '@gpuaas/contracts/tasks';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { readConfig } from '../config.ts';
import type { Host, HostOperation } from '../host/host.ts';
import { openFaults } from '../host/simulated/faults.ts';
import { writeMode } from '../host/simulated/mode-file.ts';
import { openSimulatedHost } from '../host/simulated/simulated-host.ts';
import { openHostLease } from '../host-lease.ts';
import { openSlotLeases } from '../slot-leases.ts';
import type { TaskContext, TaskDependencies } from '../tasks/task-context.ts';
import { ActiveWork } from '../tasks/active-work.ts';
import { GuestStreams } from '../tunnel/guest-streams.ts';

export const HOSTNAME = 'sim-test-01';
export const silentLog = pino({ level: 'silent' });

export interface TestHost extends TaskDependencies {
  context: TaskContext<TaskKind>;
  stages: string[];
  /** Opens the host as another agent process over the same state folder would. */
  reopen(): Promise<Host>;
  close(): Promise<void>;
}

/** A simulated host without delays in its own folder, promoted to slices. */
export async function openTestHost(faults = ''): Promise<TestHost> {
  const dir = await mkdtemp(join(tmpdir(), 'gpuaas-agent-'));
  const config = readConfig({
    GPUAAS_AGENT_DIR: dir,
    GPUAAS_AGENT_HOSTNAME: HOSTNAME,
    GPUAAS_SIM_SPEED: '0',
    GPUAAS_SIM_FAULTS: faults,
  });
  const { has } = openFaults(dir, HOSTNAME, config.simulation.faults);
  await writeMode(dir, 'slice');
  const host = await openSimulatedHost(config, has, silentLog);
  const stages: string[] = [];
  const { signal } = new AbortController();
  const step: HostOperation = { signal, percent: () => undefined };
  return {
    dir,
    host,
    stages,
    leases: await openSlotLeases(dir),
    hostLease: await openHostLease(dir),
    streams: new GuestStreams(),
    underWay: new ActiveWork(),
    context: {
      signal,
      log: silentLog,
      stage(stage) {
        stages.push(stage);
        return step;
      },
    },
    reopen: () => openSimulatedHost(config, has, silentLog),
    async close() {
      for (const vm of await host.listVms()) await host.removeVm(vm.allocation_id, 0, step);
      await rm(dir, { recursive: true, force: true });
    },
  };
}
