import { useQuery } from '@tanstack/react-query';
import { placementQuery, type PlacementRequest } from '../api/placements.ts';
import { counted } from '../format/words.ts';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { Timestamp } from '../ui/timestamp.tsx';

interface DoesNotFitProps {
  request: PlacementRequest;
  onGpuCount: (gpus: number) => void;
}

/** Asks for a dry run and, when there is no room, says why and what there is room for. */
export function DoesNotFit({ request, onGpuCount }: DoesNotFitProps) {
  const { data } = useQuery(placementQuery(request));
  if (!data || data.fits) return null;
  const { nearest, reasons, expected_at: expected } = data;
  return (
    <Notice
      tone="warn"
      title={`${counted(request.gpu_count, 'GPU')} do not fit right now`}
      action={
        nearest && (
          <Button size="sm" onClick={() => onGpuCount(nearest.gpu_count)}>
            Switch to {counted(nearest.gpu_count, 'GPU')}
          </Button>
        )
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
