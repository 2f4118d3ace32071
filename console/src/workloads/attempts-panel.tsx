import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { attemptsQuery } from '../api/apps/instances.ts';
import type { AppInstance } from '../api/types.ts';
import { Panel } from '../ui/panel.tsx';
import { RelativeTime } from '../ui/values/timestamp.tsx';
import { ReasonText } from './reason-text.tsx';
import { StatusBadge } from './status-badge.tsx';

/** The attempts that belong together, newest first; nothing for an instance that was never retried. */
export function AttemptsPanel({ instance }: { instance: AppInstance }) {
  const attempts = useQuery(attemptsQuery(instance)).data ?? [];
  if (attempts.length < 2) return null;
  return (
    <Panel title="Attempts" flush>
      <ul>
        {attempts.map(({ id, attempt, status, reason, created_at: at }) => (
          <li key={id} className="flex flex-col gap-1 border-b border-line px-4 py-2.5 text-sm last:border-0">
            <span className="flex items-center justify-between gap-2">
              {id === instance.id ? (
                <span aria-current="page" className="font-medium">
                  Attempt {attempt}
                </span>
              ) : (
                <Link
                  to="/workloads/$instanceId"
                  params={{ instanceId: id }}
                  className="font-medium text-accent-text underline"
                >
                  Attempt {attempt}
                </Link>
              )}
              <StatusBadge status={status} />
            </span>
            <span className="flex justify-between gap-2 text-ink-muted">
              <ReasonText reason={reason} />
              <RelativeTime since={at} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
