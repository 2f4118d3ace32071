import type { Reservation } from '../api/types.ts';
import { counted, inWords } from '../format/words.ts';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/data-table.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import type { Tone } from '../ui/tone.ts';

const TONES: Record<Reservation['state'], Tone> = {
  upcoming: 'info',
  active: 'success',
  over: 'neutral',
  cancelled: 'neutral',
};

export const RESERVATION_COLUMNS: Column<Reservation>[] = [
  {
    header: 'Kept',
    cell: ({ node_count: nodes, sku, region }) => (
      <span className="flex flex-col">
        <span className="font-medium">{counted(nodes, 'host')}</span>
        <span className="text-xs text-ink-faint">
          {sku}, {region}
        </span>
      </span>
    ),
  },
  { header: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{inWords(state)}</Badge> },
  { header: 'From', cell: ({ starts_at: at }) => <Timestamp at={at} />, from: 'md' },
  { header: 'To', cell: ({ ends_at: at }) => <Timestamp at={at} />, from: 'md' },
  {
    header: 'In use',
    cell: ({ gpus_used: gpus }) => counted(gpus, 'GPU'),
    align: 'right',
    from: 'sm',
  },
  {
    header: 'Reason',
    cell: ({ reason }) => (
      <span title={reason} className="block max-w-64 truncate text-ink-muted">
        {reason}
      </span>
    ),
    from: 'lg',
  },
];
