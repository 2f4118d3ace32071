import { useQuery } from '@tanstack/react-query';
import { conversionsQuery } from '../api/node-operations.ts';
import type { NodeConversion } from '../api/types.ts';
import { inWords } from '../format/words.ts';
import { Badge } from '../ui/badge.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import type { Tone } from '../ui/tone.ts';

const TONES: Record<NodeConversion['state'], Tone> = {
  running: 'info',
  succeeded: 'success',
  undone: 'warn',
  failed: 'danger',
};

/** The turns between slices and baremetal; nothing where there was none. */
export function ConversionsPanel({ nodeId }: { nodeId: string }) {
  const query = useQuery(conversionsQuery(nodeId));
  if (query.data?.length === 0) return null;
  return (
    <Panel title="Conversions">
      <Loaded query={query} loading={<Skeleton label="Loading conversions" rows={1} />}>
        {(conversions) => (
          <ul className="flex flex-col gap-3 text-sm">
            {conversions.map(({ id, to_mode: to, state, reason, detail, requested_at: at }) => (
              <li key={id} className="flex flex-col gap-0.5">
                <span className="flex flex-wrap items-center gap-2">
                  <Badge tone={TONES[state]} moving={state === 'running'}>
                    {inWords(state)}
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
      </Loaded>
    </Panel>
  );
}
