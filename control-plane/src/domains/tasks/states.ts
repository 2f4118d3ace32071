/** State table of a node task: which state may follow which. A claim whose lease expired may be claimed again. */
export const taskTransitions = {
  queued: ['claimed', 'expired'],
  claimed: ['claimed', 'succeeded', 'failed', 'expired'],
  succeeded: [],
  failed: [],
  expired: [],
} as const satisfies Record<string, readonly string[]>;

export type TaskState = keyof typeof taskTransitions;

/** States of a task that a host may still finish. */
export const OPEN_TASK_STATES = ['queued', 'claimed'] as const satisfies readonly TaskState[];

export function isOpenTask(state: string): boolean {
  return OPEN_TASK_STATES.some((open) => open === state);
}
