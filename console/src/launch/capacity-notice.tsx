import { useQuery } from '@tanstack/react-query';
import { placementQuery, type PlacementRequest } from '../api/allocations/placements.ts';
import type { PlacementExplanation } from '../api/types.ts';
import { pluralize, humanize } from '../format/humanize.ts';
import { Button } from '../ui/actions/button.tsx';
import { Notice } from '../ui/feedback/notice.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

interface DoesNotFitProps {
  request: PlacementRequest;
  onGpuCount: (gpus: number) => void;
  /** Switches from a whole host to a slice; null where that does not help. */
  onSlice: (() => void) | null;
}

/** Runs a dry run and, if the launch would be refused, shows the reason and a size that fits. */
export function CapacityNotice({ request, onGpuCount, onSlice }: DoesNotFitProps) {
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
      title={`No capacity for ${pluralize(requested.gpu_count, 'GPU')} right now`}
      action={
        <>
          {nearest && (
            <Button size="sm" onClick={() => onGpuCount(nearest.gpu_count)}>
              Switch to {pluralize(nearest.gpu_count, 'GPU')}
            </Button>
          )}
          {onSlice && (
            <Button size="sm" onClick={onSlice}>
              Use a slice instead
            </Button>
          )}
        </>
      }
    >
      <ul className="list-disc pl-4">
        {reasons.map(({ filter, reason, nodes }) => (
          <li key={filter}>
            {pluralize(nodes, 'host')}: {reason}
          </li>
        ))}
      </ul>
      {expected && (
        <p>
          Capacity expected at <Timestamp at={expected} as="clock" />.
        </p>
      )}
    </Notice>
  );
}

type Exceeded = NonNullable<PlacementExplanation['quota']>['exceeded'];

function OverQuota({ exceeded }: { exceeded: Exceeded }) {
  return (
    <Notice tone="warn" title="Over quota">
      <ul className="list-disc pl-4">
        {exceeded.map(({ holder, measure, unit, limit, used }) => (
          <li key={`${holder.type} ${measure} ${unit ?? ''}`}>
            {humanize(measure)} {unit ?? ''} of the {holder.type}: {used.toLocaleString('en-US')} of{' '}
            {limit.toLocaleString('en-US')} used.
          </li>
        ))}
      </ul>
    </Notice>
  );
}
