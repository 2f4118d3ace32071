import type { Allocation } from '../api/types.ts';
import { Fact, Facts } from '../ui/values/facts.tsx';
import { Panel } from '../ui/panel.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

/** Condition for the start. */
const STARTS: Record<NonNullable<Allocation['queue']>['reason'], string> = {
  not_looked_at: 'Starts automatically when capacity is free.',
  capacity: 'Starts automatically when capacity is free.',
  quota: 'Starts automatically when the quota allows it.',
  money: 'Starts automatically when the balance and budgets cover it.',
  closed: 'Starts automatically when the product is available again.',
};

/** Status of a queued launch. */
export function QueuePanel({ queue }: { queue: NonNullable<Allocation['queue']> }) {
  return (
    <Panel title="Queued">
      <div className="flex flex-col gap-3">
        <p className="text-sm text-ink-muted">
          {queue.detail} {STARTS[queue.reason]} You are not billed until then.
        </p>
        <Facts>
          <Fact name="Position">{queue.position ?? 'Pending'}</Fact>
          <Fact name="Expected">
            {queue.expected_at ? (
              <Timestamp at={queue.expected_at} />
            ) : queue.reason === 'capacity' ? (
              'No estimate: running leases have no end time'
            ) : (
              'Unknown'
            )}
          </Fact>
          <Fact name="Queued since">
            <Timestamp at={queue.queued_at} />
          </Fact>
          <Fact name="Expires">
            <Timestamp at={queue.expires_at} />
          </Fact>
        </Facts>
      </div>
    </Panel>
  );
}
