import type { FourStates } from '../api/types.ts';
import { formatClock } from '../format/time.ts';
import { inWords } from '../format/words.ts';
import { Panel } from '../ui/panel.tsx';
import { StateList } from '../ui/state-list.tsx';
import { DESIRED_WORDS, OBSERVED_WORDS } from './allocation-states.ts';

/** Intent, evidence and work are kept apart, so that a difference between them is seen. */
export function StatesPanel({ states }: { states: FourStates }) {
  const { desired, observed, execution, projected } = states;
  return (
    <Panel title="States">
      <StateList
        states={[
          { name: 'Desired', value: desired, words: DESIRED_WORDS[desired] },
          { name: 'Observed', value: observed, words: OBSERVED_WORDS[observed] },
          { name: 'Execution', value: execution, words: executionWords(execution) },
          { name: 'Projected', value: projected?.state ?? 'none', words: projectedWords(projected) },
        ]}
      />
    </Panel>
  );
}

function executionWords(execution: string): string {
  return execution === 'idle'
    ? 'No work is under way.'
    : `The workflow is at: ${inWords(execution).toLowerCase()}.`;
}

function projectedWords(projected: FourStates['projected']): string {
  if (!projected) return 'Events have not reached the read model yet.';
  return `Lists showed it as ${inWords(projected.state).toLowerCase()} at ${formatClock(projected.projected_at)}.`;
}
