import type { AuditLog } from '../api/types.ts';
import { humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { IdText } from '../ui/values/id-text.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import type { Tone } from '../ui/values/tone.ts';

const TONES: Record<AuditLog['result'], Tone> = {
  succeeded: 'success',
  refused: 'warn',
  denied: 'danger',
  failed: 'danger',
};

/** Actor, action, target and result. */
export const AUDIT_COLUMNS: Column<AuditLog>[] = [
  { header: 'Time', cell: ({ occurred_at: at }) => <Timestamp at={at} as="clock" /> },
  { header: 'Action', cell: ({ action }) => <code className="font-mono font-medium">{action}</code> },
  { header: 'Result', cell: ({ result }) => <Badge tone={TONES[result]}>{humanize(result)}</Badge> },
  {
    header: 'Actor',
    cell: ({ actor_kind: kind, actor_role: role, actor_id: id }) => (
      <span className="inline-flex items-center gap-2">
        <span className="text-ink-muted">{role ? humanize(role) : humanize(kind)}</span>
        {id && <IdText id={id} label="actor id" />}
      </span>
    ),
    from: 'md',
  },
  {
    header: 'Target',
    cell: ({ target_type: type, target_id: id }) => (
      <span className="inline-flex items-center gap-2">
        <span className="text-ink-muted">{humanize(type)}</span>
        {id && <IdText id={id} label="target id" />}
      </span>
    ),
    from: 'lg',
  },
  {
    header: 'Correlation',
    cell: ({ correlation_id: id }) => <IdText id={id} label="correlation id" />,
    from: 'xl',
  },
];
