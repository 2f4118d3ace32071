import type { Allocation } from '../api/types.ts';
import { AllocationFailure } from './allocation-failure.tsx';
import { AllocationFacts } from './allocation-facts.tsx';
import { AllocationWorkloads } from './allocation-workloads.tsx';
import { ConnectionPanel } from './connection-panel.tsx';
import { HostCleanupPanel } from './certificates/host-cleanup-panel.tsx';
import { IngressPanel } from './ingress/ingress-panel.tsx';
import { QueuePanel } from './queue-panel.tsx';
import { StatesPanel } from './states-panel.tsx';
import { TimelinePanel } from './timeline/timeline-panel.tsx';
import { WipeRecordPanel } from './certificates/wipe-record-panel.tsx';

export function AllocationOverview({ allocation }: { allocation: Allocation }) {
  const { state } = allocation;
  const wiping = ['releasing', 'released', 'failed', 'release_failed'].includes(state);
  return (
    <div className="flex flex-col gap-4">
      <AllocationFailure allocation={allocation} />
      <div className="grid items-start gap-4 lg:grid-cols-[1fr_22rem]">
        <div className="flex min-w-0 flex-col gap-4">
          {allocation.queue && <QueuePanel queue={allocation.queue} />}
          {state === 'active' && <ConnectionPanel allocation={allocation} />}
          {state === 'active' && allocation.capacity_shape === 'gpu_slice' && (
            <IngressPanel allocation={allocation} />
          )}
          <AllocationWorkloads allocation={allocation} />
          <TimelinePanel allocation={allocation} />
          {wiping &&
            (allocation.capacity_shape === 'baremetal' ? (
              <HostCleanupPanel allocation={allocation} />
            ) : (
              <WipeRecordPanel allocation={allocation} />
            ))}
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <StatesPanel states={allocation.states} />
          <AllocationFacts allocation={allocation} />
        </div>
      </div>
    </div>
  );
}
