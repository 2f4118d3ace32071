import type { Allocation } from '../api/types.ts';
import { Notice } from '../ui/notice.tsx';
import { AllocationFacts } from './allocation-facts.tsx';
import { ConnectionPanel } from './connection-panel.tsx';
import { QueuePanel } from './queue-panel.tsx';
import { StatesPanel } from './states-panel.tsx';
import { TimelinePanel } from './timeline-panel.tsx';
import { WipeRecordPanel } from './wipe-record-panel.tsx';

export function AllocationOverview({ allocation }: { allocation: Allocation }) {
  const { state } = allocation;
  const wiping = ['releasing', 'released', 'failed', 'release_failed'].includes(state);
  return (
    <div className="flex flex-col gap-4">
      <Failure allocation={allocation} />
      <div className="grid items-start gap-4 lg:grid-cols-[1fr_22rem]">
        <div className="flex min-w-0 flex-col gap-4">
          {allocation.queue && <QueuePanel queue={allocation.queue} />}
          {state === 'active' && <ConnectionPanel allocation={allocation} />}
          <TimelinePanel allocation={allocation} />
          {wiping && <WipeRecordPanel allocation={allocation} />}
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <StatesPanel states={allocation.states} />
          <AllocationFacts allocation={allocation} />
        </div>
      </div>
    </div>
  );
}

function Failure({ allocation: { state, failure } }: { allocation: Allocation }) {
  if (state !== 'failed' && state !== 'release_failed') return null;
  const title = state === 'failed' ? 'The launch failed' : 'The release could not be finished';
  const meaning =
    state === 'failed'
      ? 'You are not charged. Its slots stay blocked until their wipe is proven.'
      : 'Billing has stopped. The slots stay blocked until their wipe is proven; you may release again.';
  return (
    <Notice tone="danger" title={title}>
      {failure && (
        <p>
          {failure.detail} <code className="font-mono text-xs">{failure.code}</code>
        </p>
      )}
      <p>{meaning}</p>
    </Notice>
  );
}
