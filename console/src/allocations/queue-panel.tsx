import type { Allocation } from '../api/types.ts';
import { Fact, Facts } from '../ui/facts.tsx';
import { Panel } from '../ui/panel.tsx';
import { Timestamp } from '../ui/timestamp.tsx';

/** What has to happen first. */
const STARTS: Record<NonNullable<Allocation['queue']>['reason'], string> = {
  not_looked_at: 'It starts by itself as soon as there is room.',
  capacity: 'It starts by itself as soon as there is room.',
  quota: 'It starts by itself once the quota allows it.',
  money: 'It starts by itself once the balance and the budgets cover it.',
  closed: 'It starts by itself once the product is on sale again.',
};

/** Where a launch stands that waits in line. */
export function QueuePanel({ queue }: { queue: NonNullable<Allocation['queue']> }) {
  return (
    <Panel title="In line">
      <div className="flex flex-col gap-3">
        <p className="text-sm text-ink-muted">
          {queue.detail} {STARTS[queue.reason]} Nothing is billed until then.
        </p>
        <Facts>
          <Fact name="Place">{queue.position ?? 'Not looked at yet'}</Fact>
          <Fact name="Expected">
            {queue.expected_at ? (
              <Timestamp at={queue.expected_at} />
            ) : queue.reason === 'capacity' ? (
              'No lease with a known end makes room'
            ) : (
              'Not known'
            )}
          </Fact>
          <Fact name="In line since">
            <Timestamp at={queue.queued_at} />
          </Fact>
          <Fact name="Waits until">
            <Timestamp at={queue.expires_at} />
          </Fact>
        </Facts>
      </div>
    </Panel>
  );
}
