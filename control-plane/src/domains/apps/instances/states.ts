/** The states of an app instance as data: allowed moves. An end is final; a retry is a new instance. */
export const transitions = {
  created: ['starting', 'stopped', 'failed'],
  starting: ['running', 'stopping', 'failed'],
  running: ['stopping', 'succeeded', 'failed'],
  stopping: ['stopped'],
  stopped: [],
  failed: [],
  succeeded: [],
} as const satisfies Record<string, readonly string[]>;

export type AppStatus = keyof typeof transitions;
export type Ending = 'stopped' | 'failed' | 'succeeded';

export function canMove(from: AppStatus, to: AppStatus): boolean {
  return transitions[from].some((status) => status === to);
}

export function hasEnded(status: AppStatus): boolean {
  return transitions[status].length === 0;
}
