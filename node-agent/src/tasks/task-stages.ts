import { taskStages } from '@gpuaas/contracts/generated/stages.ts';
import type { TaskKind } from '@gpuaas/contracts/tasks';
import type { Stage } from './progress-reporter.ts';

/** The stages of each kind of task, in order. A handler can enter no other, and an agent is killed at each in tests. */
export const TASK_STAGES = taskStages satisfies Record<TaskKind, readonly [Stage, ...Stage[]]>;

export type StageOf<K extends TaskKind> = (typeof TASK_STAGES)[K][number];
