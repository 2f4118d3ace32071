import { appReasons, type AppReason } from '@gpuaas/contracts/generated/reasons.ts';

export type AppKind = 'service' | 'succeeds' | 'fails';
export type Deed = 'stop' | 'kill' | 'delete' | 'away' | 'release';

/** What the model knows of an instance: what it is, and what was done to it or its machine while it lived. */
export interface ModelApp {
  id: string;
  kind: AppKind;
  machine: string;
  deeds: Set<Deed>;
}

/** An instance as the platform has it at one moment. */
export interface SeenApp {
  id: string;
  status: string;
  reason: AppReason | null;
  gate: string | null;
  teardown: 'proved' | 'open';
  /** Processes of it that live, with those that look after it. */
  processes: number;
  events: readonly string[];
}

/** What each deed may end an instance as. */
const ENDS: Record<Deed | AppKind, readonly string[]> = {
  service: [],
  succeeds: ['succeeded'],
  fails: ['failed exit_nonzero'],
  stop: ['stopped cancelled'],
  release: ['stopped cancelled', 'failed rejected'],
  kill: ['failed exit_nonzero'],
  // In the middle of a start it is tried again; a program that lost its folder, or a runner that is gone, says so.
  delete: ['failed node_lost', 'failed exit_nonzero', 'failed access_lost', 'failed bootstrap_timeout'],
  away: ['failed node_lost', 'failed bootstrap_timeout'],
};
const ENDED: ReadonlySet<string> = new Set(['stopped', 'failed', 'succeeded']);

/** What is wrong with an instance when all machines answer and nothing is asked; null if it is as it must be. */
export function judgeAtRest(
  app: ModelApp,
  seen: SeenApp,
  quota: { holders: number; limit: number },
): string | null {
  const order = judgeOrder(seen.events);
  if (order) return order;
  if (ENDED.has(seen.status)) return judgeEnd(app, seen);
  if (app.deeds.has('stop') || app.deeds.has('release')) return `is ${seen.status} after a stop`;
  if (seen.status === 'created') {
    if (seen.gate !== 'quota') return `waits for ${seen.gate}`;
    return quota.holders >= quota.limit ? null : `waits for quota: ${quota.holders} of ${quota.limit}`;
  }
  if (seen.status !== 'running') return `is ${seen.status}`;
  if (app.kind !== 'service') return 'is a job that does not end';
  return seen.processes > 0 ? null : 'runs without a process';
}

function judgeEnd(
  { kind, deeds }: ModelApp,
  { status, reason, teardown, processes }: SeenApp,
): string | null {
  const end = reason === null ? status : `${status} ${reason}`;
  const possible = [kind, ...deeds].flatMap((cause) => ENDS[cause]);
  if (!possible.includes(end)) return `ended as ${end}, and could as ${possible.join(', ') || 'nothing'}`;
  if (reason !== null && appReasons[reason].final !== status) return `ended as ${end}, which is no pair`;
  if (processes > 0) return `ended as ${end} with ${processes} processes`;
  return teardown === 'proved' ? null : `ended as ${end} without proof`;
}

const END = ['stopped', 'failed', 'succeeded'];
/** Which event may follow which. A start that was under way is still recorded after a stop. */
const NEXT: Readonly<Record<string, readonly string[]>> = {
  created: ['gate_waiting', 'starting', 'stopped', 'failed'],
  gate_waiting: ['gate_waiting', 'starting', 'stopped', 'failed'],
  starting: ['member_added', 'member_failed', 'stopping'],
  member_added: ['start_completed', 'member_failed', 'stopping', 'member_removed'],
  start_completed: ['healthy', 'member_failed', 'stopping', 'member_removed'],
  healthy: ['member_failed', 'stopping', 'member_removed'],
  member_failed: ['member_removed'],
  stopping: ['member_added', 'member_removed'],
  member_removed: ['teardown_proved', 'teardown_open'],
  teardown_proved: END,
  teardown_open: END,
  stopped: ['teardown_proved'],
  failed: ['teardown_proved'],
  succeeded: ['teardown_proved'],
};
const ONCE = [
  'created',
  'starting',
  'member_added',
  'start_completed',
  'stopping',
  'member_removed',
  'teardown_proved',
];

/** What is wrong with the order of events; null if nothing is. */
export function judgeOrder(events: readonly string[]): string | null {
  if (events[0] !== 'created') return `begins with ${events[0]}`;
  for (const name of ONCE)
    if (events.filter((one) => one === name).length > 1) return `has ${name} twice: ${events.join(' ')}`;
  for (const [index, name] of events.entries()) {
    const before = events[index - 1];
    const fits = before === undefined || NEXT[before]?.includes(name);
    if (!fits) return `has ${name} after ${before}: ${events.join(' ')}`;
  }
  return null;
}
