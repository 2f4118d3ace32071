import type { TaskKind, TaskOutput, TaskParams } from '@gpuaas/contracts/tasks';
import type { Host, HostOperation } from '../host/host.ts';
import type { HostLease } from '../host-lease.ts';
import type { Logger } from '../logger.ts';
import type { SlotLeases } from '../slot-leases.ts';
import type { GuestStreams } from '../tunnel/guest-streams.ts';
import type { StageOf } from './task-stages.ts';
import type { ActiveWork } from './active-work.ts';

/** Services that task handlers use. */
export interface TaskDependencies {
  host: Host;
  leases: SlotLeases;
  hostLease: HostLease;
  streams: GuestStreams;
  underWay: ActiveWork;
  /** The agent's state folder. */
  dir: string;
}

export interface TaskContext<K extends TaskKind> {
  signal: AbortSignal;
  log: Logger;
  /** Enters a stage; throws when the task has been fenced. */
  stage(stage: StageOf<K>, message: string): HostOperation;
}

export type TaskHandler<K extends TaskKind> = (
  params: TaskParams[K],
  tools: TaskDependencies,
  context: TaskContext<K>,
) => Promise<TaskOutput[K]>;
