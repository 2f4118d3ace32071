import type { TaskKind, TaskOutput, TaskParams } from '@gpuaas/contracts/tasks';
import type { Host, Step } from '../host/host.ts';
import type { HostLease } from '../host-lease.ts';
import type { Logger } from '../log.ts';
import type { SlotLeases } from '../slot-leases.ts';
import type { GuestStreams } from '../tunnel/guest-streams.ts';
import type { StageOf } from './task-stages.ts';
import type { WorkUnderWay } from './work-under-way.ts';

/** What the tasks work with. */
export interface TaskTools {
  host: Host;
  leases: SlotLeases;
  hostLease: HostLease;
  streams: GuestStreams;
  underWay: WorkUnderWay;
  /** The agent's state folder. */
  dir: string;
}

export interface TaskContext<K extends TaskKind> {
  signal: AbortSignal;
  log: Logger;
  /** Enters a stage; throws when the task was fenced meanwhile. */
  stage(stage: StageOf<K>, message: string): Step;
}

export type TaskHandler<K extends TaskKind> = (
  params: TaskParams[K],
  tools: TaskTools,
  context: TaskContext<K>,
) => Promise<TaskOutput[K]>;
