import type { FourStates } from '../api/types.ts';
import { formatClock } from '../format/format-time.ts';
import { humanize } from '../format/humanize.ts';
import { Panel } from '../ui/panel.tsx';
import { StateList } from '../ui/values/state-list.tsx';
import { DESIRED_LABELS, OBSERVED_LABELS } from './allocation-states.ts';

/** Intent, evidence and work are shown separately, so that a difference between them is visible. */
export function StatesPanel({ states }: { states: FourStates }) {
  const { desired, observed, execution, projected } = states;
  return (
    <Panel title="States">
      <StateList
        states={[
          { name: 'Desired', value: desired, words: DESIRED_LABELS[desired] },
          { name: 'Observed', value: observed, words: OBSERVED_LABELS[observed] },
          { name: 'Execution', value: execution, words: executionWords(execution) },
          { name: 'Projected', value: projected?.state ?? 'none', words: projectedWords(projected) },
        ]}
      />
    </Panel>
  );
}

function executionWords(execution: string): string {
  return execution === 'idle' ? 'Idle.' : `The workflow is at: ${humanize(execution).toLowerCase()}.`;
}

function projectedWords(projected: FourStates['projected']): string {
  if (!projected) return 'Not in lists yet.';
  return `Lists showed it as ${humanize(projected.state).toLowerCase()} at ${formatClock(projected.projected_at)}.`;
}
