import { useQuery } from '@tanstack/react-query';
import { placementQuery, type PlacementRequest } from '../api/placements.ts';
import type { PlacementExplanation } from '../api/types.ts';
import { counted, inWords } from '../format/words.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { Timestamp } from '../ui/timestamp.tsx';

interface DoesNotFitProps {
  request: PlacementRequest;
  onGpuCount: (gpus: number) => void;
  /** Takes a slice in place of a whole host; null where that is no way out. */
  onSlice: (() => void) | null;
}

/** Asks for a dry run and, when it would be refused, says why and what there is room for. */
export function DoesNotFit({ request, onGpuCount, onSlice }: DoesNotFitProps) {
  const { data } = useQuery(placementQuery(request));
  if (!data) return null;
  return (
    <>
      {data.quota && !data.quota.allows && <OverQuota exceeded={data.quota.exceeded} />}
      {!data.fits && <NoRoom explanation={data} onGpuCount={onGpuCount} onSlice={onSlice} />}
    </>
  );
}

interface NoRoomProps extends Pick<DoesNotFitProps, 'onGpuCount' | 'onSlice'> {
  explanation: PlacementExplanation;
}

function NoRoom({ explanation, onGpuCount, onSlice }: NoRoomProps) {
  const { requested, nearest, reasons, expected_at: expected } = explanation;
  return (
    <Notice
      tone="warn"
      title={`${counted(requested.gpu_count, 'GPU')} do not fit right now`}
      action={
        <>
          {nearest && (
            <Button size="sm" onClick={() => onGpuCount(nearest.gpu_count)}>
              Switch to {counted(nearest.gpu_count, 'GPU')}
            </Button>
          )}
          {onSlice && (
            <Button size="sm" onClick={onSlice}>
              Take a slice instead
            </Button>
          )}
        </>
      }
    >
      <ul className="list-disc pl-4">
        {reasons.map(({ filter, reason, nodes }) => (
          <li key={filter}>
            {counted(nodes, 'host')}: {reason}
          </li>
        ))}
      </ul>
      {expected && (
        <p>
          Room is expected at <Timestamp at={expected} as="clock" />.
        </p>
      )}
    </Notice>
  );
}

type Exceeded = NonNullable<PlacementExplanation['quota']>['exceeded'];

function OverQuota({ exceeded }: { exceeded: Exceeded }) {
  return (
    <Notice tone="warn" title="It is more than the quota allows">
      <ul className="list-disc pl-4">
        {exceeded.map(({ holder, measure, unit, limit, used }) => (
          <li key={`${holder.type} ${measure} ${unit ?? ''}`}>
            {inWords(measure)} {unit ?? ''} of the {holder.type}: {used.toLocaleString('en-US')} of{' '}
            {limit.toLocaleString('en-US')} used.
          </li>
        ))}
      </ul>
    </Notice>
  );
}
