import type { Reservation } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { pluralize, humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import type { Tone } from '../ui/values/tone.ts';
import { NameWithDetail } from '../ui/values/name-with-detail.tsx';

const TONES: Record<Reservation['state'], Tone> = {
  upcoming: 'info',
  active: 'success',
  over: 'neutral',
  cancelled: 'neutral',
  lapsed: 'warn',
};

const LAPSE_REASONS: Record<NonNullable<Reservation['lapse_reason']>, string> = {
  unused: 'Not used',
  unfunded: 'Balance too low',
};

export const RESERVATION_COLUMNS: Column<Reservation>[] = [
  {
    header: 'Reserved',
    cell: ({ node_count: nodes, sku, region }) => (
      <NameWithDetail name={pluralize(nodes, 'host')}>
        {sku}, {region}
      </NameWithDetail>
    ),
  },
  {
    header: 'State',
    cell: ({ state, lapse_reason: why }) => (
      <span className="flex flex-col items-start gap-1">
        <Badge tone={TONES[state]}>{humanize(state)}</Badge>
        {why && <span className="text-xs text-ink-faint">{LAPSE_REASONS[why]}</span>}
      </span>
    ),
  },
  { header: 'From', cell: ({ starts_at: at }) => <Timestamp at={at} />, from: 'md' },
  { header: 'To', cell: ({ ends_at: at }) => <Timestamp at={at} />, from: 'md' },
  {
    header: 'In use',
    cell: ({ gpus_used: used, gpu_count: gpus }) =>
      gpus > 0 ? `${used} of ${pluralize(gpus, 'GPU')}` : pluralize(used, 'GPU'),
    align: 'right',
    from: 'sm',
  },
  {
    header: 'Held while unused',
    cell: ({ held }) => (held ? formatMoney(held, 2) : '–'),
    align: 'right',
    from: 'lg',
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
