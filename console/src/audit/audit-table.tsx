import type { AuditLog } from '../api/types.ts';
import { inWords } from '../format/words.ts';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/data-table.tsx';
import { IdText } from '../ui/id-text.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import type { Tone } from '../ui/tone.ts';

const TONES: Record<AuditLog['result'], Tone> = {
  succeeded: 'success',
  refused: 'warn',
  denied: 'danger',
  failed: 'danger',
};

/** Who did what to which thing, and with what result. */
export const AUDIT_COLUMNS: Column<AuditLog>[] = [
  { header: 'When', cell: ({ occurred_at: at }) => <Timestamp at={at} as="clock" /> },
  { header: 'Action', cell: ({ action }) => <code className="font-mono font-medium">{action}</code> },
  { header: 'Result', cell: ({ result }) => <Badge tone={TONES[result]}>{inWords(result)}</Badge> },
  {
    header: 'Who',
    cell: ({ actor_kind: kind, actor_role: role, actor_id: id }) => (
      <span className="inline-flex items-center gap-2">
        <span className="text-ink-muted">{role ? inWords(role) : inWords(kind)}</span>
        {id && <IdText id={id} label="actor id" />}
      </span>
    ),
    from: 'md',
  },
  {
    header: 'Target',
    cell: ({ target_type: type, target_id: id }) => (
      <span className="inline-flex items-center gap-2">
        <span className="text-ink-muted">{inWords(type)}</span>
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
