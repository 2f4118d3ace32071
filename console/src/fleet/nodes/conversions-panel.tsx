import { useQuery } from '@tanstack/react-query';
import { conversionsQuery } from '../../api/fleet/node-operations.ts';
import type { NodeConversion } from '../../api/types.ts';
import { humanize } from '../../format/humanize.ts';
import { Badge } from '../../ui/values/badge.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Timestamp } from '../../ui/values/timestamp.tsx';
import type { Tone } from '../../ui/values/tone.ts';

const TONES: Record<NodeConversion['state'], Tone> = {
  running: 'info',
  succeeded: 'success',
  undone: 'warn',
  failed: 'danger',
};

/** Conversions between slices and bare metal; hidden when there are none. */
export function ConversionsPanel({ nodeId }: { nodeId: string }) {
  const query = useQuery(conversionsQuery(nodeId));
  if (query.data?.length === 0) return null;
  return (
    <Panel title="Conversions">
      <QueryBoundary query={query} loading={<Skeleton label="Loading conversions" rows={1} />}>
        {(conversions) => (
          <ul className="flex flex-col gap-3 text-sm">
            {conversions.map(({ id, to_mode: to, state, reason, detail, requested_at: at }) => (
              <li key={id} className="flex flex-col gap-0.5">
                <span className="flex flex-wrap items-center gap-2">
                  <Badge tone={TONES[state]} moving={state === 'running'}>
                    {humanize(state)}
                  </Badge>
                  to {to === 'slice' ? 'slices' : 'baremetal'}
                  <span className="text-ink-faint">
                    <Timestamp at={at} as="clock" />
                  </span>
                </span>
                <span className="wrap-anywhere text-ink-muted">{detail ?? reason}</span>
              </li>
            ))}
          </ul>
        )}
      </QueryBoundary>
    </Panel>
  );
}
