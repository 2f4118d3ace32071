import type { Allocation } from '../api/types.ts';
import { Fact, Facts } from '../ui/facts.tsx';
import { Panel } from '../ui/panel.tsx';
import { Timestamp } from '../ui/timestamp.tsx';

/** Where a launch stands that waits in line. */
export function QueuePanel({ queue }: { queue: NonNullable<Allocation['queue']> }) {
  return (
    <Panel title="In line">
      <div className="flex flex-col gap-3">
        <p className="text-sm text-ink-muted">
          {queue.detail} It starts by itself as soon as there is room; nothing is billed until then.
        </p>
        <Facts>
          <Fact name="Place">{queue.position ?? 'Not looked at yet'}</Fact>
          <Fact name="Expected">
            {queue.expected_at ? (
              <Timestamp at={queue.expected_at} />
            ) : (
              'No lease with a known end makes room'
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
