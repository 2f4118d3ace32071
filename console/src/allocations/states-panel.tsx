import type { FourStates } from '../api/types.ts';
import { formatClock } from '../format/time.ts';
import { inWords } from '../format/words.ts';
import { Panel } from '../ui/panel.tsx';
import { DESIRED_WORDS, OBSERVED_WORDS } from './allocation-states.ts';

/** Intent, evidence and work are kept apart, so that a difference between them is seen. */
export function StatesPanel({ states }: { states: FourStates }) {
  return (
    <Panel title="States">
      <dl className="flex flex-col gap-3 text-sm">
        <State name="Desired" value={states.desired} words={DESIRED_WORDS[states.desired]} />
        <State name="Observed" value={states.observed} words={OBSERVED_WORDS[states.observed]} />
        <State name="Execution" value={states.execution} words={executionWords(states.execution)} />
        <State
          name="Projected"
          value={states.projected?.state ?? 'none'}
          words={projectedWords(states.projected)}
        />
      </dl>
    </Panel>
  );
}

function State({ name, value, words }: { name: string; value: string; words: string }) {
  return (
    <div className="flex flex-col">
      <dt className="flex items-baseline justify-between gap-2">
        <span className="font-medium">{name}</span>
        <code className="font-mono text-xs text-ink-faint">{value}</code>
      </dt>
      <dd className="text-ink-muted">{words}</dd>
    </div>
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
