import type { Node, ResourceSlot } from '../api/types.ts';
import { formatClock } from '../format/format-time.ts';
import { humanize } from '../format/humanize.ts';

interface ShownState {
  name: string;
  value: string;
  words: string;
}

const NODE_DESIRED: Record<Node['states']['desired'], string> = {
  in_service: 'In service.',
  draining: 'Draining; no new placements.',
  maintenance: 'In maintenance.',
};

const NODE_OBSERVED: Record<Node['states']['observed'], string> = {
  never_seen: 'No heartbeat yet.',
  unreachable: 'Unreachable.',
  degraded: 'Fault reported.',
  healthy: 'Healthy.',
};

const SLOT_DESIRED: Record<ResourceSlot['states']['desired'], string> = {
  for_sale: 'In service.',
  disabled: 'Disabled by an operator.',
  retired: 'Retired.',
};

const SLOT_OBSERVED: Record<ResourceSlot['states']['observed'], string> = {
  unknown: 'Not reported by the host.',
  missing: 'A device is missing.',
  failing: 'GPU fault.',
  occupied: 'Leased on the host.',
  vacant: 'Not leased on the host.',
};

/** Labels of a host's four states. */
export function nodeStates({ desired, observed, execution, projected }: Node['states']): ShownState[] {
  return [
    { name: 'Desired', value: desired, words: NODE_DESIRED[desired] },
    { name: 'Observed', value: observed, words: NODE_OBSERVED[observed] },
    { name: 'Execution', value: execution, words: nodeExecution(execution) },
    projectedState(projected?.posture, projected?.projected_at),
  ];
}

/** Labels of a slot's four states. */
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
      words: execution === 'idle' ? 'Idle.' : `Its allocation is ${humanize(execution).toLowerCase()}.`,
    },
    projectedState(projected?.state, projected?.projected_at),
  ];
}

function nodeExecution(execution: string): string {
  if (execution === 'idle') return 'No task running.';
  return execution === 'queued' ? 'Task queued.' : 'Task running.';
}

function projectedState(value: string | undefined, at: string | undefined): ShownState {
  const words =
    value === undefined || at === undefined
      ? 'Not in lists yet.'
      : `Lists showed it as ${humanize(value).toLowerCase()} at ${formatClock(at)}.`;
  return { name: 'Projected', value: value ?? 'none', words };
}
