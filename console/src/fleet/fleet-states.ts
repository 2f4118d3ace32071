import type { Node, ResourceSlot } from '../api/types.ts';
import { formatClock } from '../format/time.ts';
import { inWords } from '../format/words.ts';

interface ShownState {
  name: string;
  value: string;
  words: string;
}

const NODE_DESIRED: Record<Node['states']['desired'], string> = {
  in_service: 'Operators want it in service.',
  draining: 'Operators want it empty; nothing new is placed.',
  maintenance: 'A maintenance window is open.',
};

const NODE_OBSERVED: Record<Node['states']['observed'], string> = {
  never_seen: 'It has not reported yet.',
  unreachable: 'It has fallen silent.',
  degraded: 'Its evidence shows a fault.',
  healthy: 'It reports, and shows no fault.',
};

const SLOT_DESIRED: Record<ResourceSlot['states']['desired'], string> = {
  for_sale: 'It is meant to be sold.',
  disabled: 'An operator took it out of sale.',
  retired: 'It is out of sale for good.',
};

const SLOT_OBSERVED: Record<ResourceSlot['states']['observed'], string> = {
  unknown: 'The host says nothing of it now.',
  missing: 'A device of it is gone.',
  failing: 'Its GPU reports a fault.',
  occupied: 'The host holds a lease on it.',
  vacant: 'The host holds no lease on it.',
};

/** The four states of a host in words. */
export function nodeStates({ desired, observed, execution, projected }: Node['states']): ShownState[] {
  return [
    { name: 'Desired', value: desired, words: NODE_DESIRED[desired] },
    { name: 'Observed', value: observed, words: NODE_OBSERVED[observed] },
    { name: 'Execution', value: execution, words: nodeExecution(execution) },
    projectedState(projected?.posture, projected?.projected_at),
  ];
}

/** The four states of a slot in words. */
export function slotStates({
  desired,
  observed,
  execution,
  projected,
}: ResourceSlot['states']): ShownState[] {
  return [
    { name: 'Desired', value: desired, words: SLOT_DESIRED[desired] },
    { name: 'Observed', value: observed, words: SLOT_OBSERVED[observed] },
    {
      name: 'Execution',
      value: execution,
      words: execution === 'idle' ? 'No work is under way.' : `Its allocation is ${execution}.`,
    },
    projectedState(projected?.state, projected?.projected_at),
  ];
}

function nodeExecution(execution: string): string {
  if (execution === 'idle') return 'No task is under way.';
  return execution === 'queued' ? 'A task waits to be claimed.' : 'The host works on this task.';
}

function projectedState(value: string | undefined, at: string | undefined): ShownState {
  const words =
    value === undefined || at === undefined
      ? 'Events have not reached the read model yet.'
      : `Lists showed it as ${inWords(value).toLowerCase()} at ${formatClock(at)}.`;
  return { name: 'Projected', value: value ?? 'none', words };
}
