import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { readinessQuery, startReadinessCheck } from '../../api/fleet/fleet-facts.ts';
import { fleetKeys } from '../../api/query-keys.ts';
import { hasPlatformPermission, useMe } from '../../api/me.ts';
import type { Node, NodeReadiness } from '../../api/types.ts';
import { pluralize, humanize } from '../../format/humanize.ts';
import { Badge } from '../../ui/values/badge.tsx';
import { Button } from '../../ui/actions/button.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ProblemNotice } from '../../ui/feedback/problem-notice.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { RelativeTime } from '../../ui/values/timestamp.tsx';
import type { Tone } from '../../ui/values/tone.ts';

type Check = NodeReadiness['checks'][number];

const CHECK_TONES: Record<Check['state'], Tone> = {
  ok: 'success',
  warning: 'warn',
  missing: 'danger',
  unknown: 'danger',
};

/** Capabilities of the host by its own evidence, with the remedy for each miss. */
export function ReadinessPanel({ node }: { node: Node }) {
  const query = useQuery(readinessQuery(node.id));
  const queryClient = useQueryClient();
  const me = useMe();
  const check = useMutation({
    mutationFn: () => startReadinessCheck(node.id),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: fleetKeys.tasks(node.id) }),
  });
  const refusal = !hasPlatformPermission(me, 'fleet.discover')
    ? 'Requires fleet.discover'
    : node.connection === 'connected'
      ? null
      : 'The host is not connected.';
  return (
    <Panel
      title="Readiness"
      aside={
        <Button size="sm" disabledReason={refusal} busy={check.isPending} onClick={() => check.mutate()}>
          Check readiness
        </Button>
      }
    >
      {check.error && <ProblemNotice error={check.error} />}
      <QueryBoundary query={query} loading={<Skeleton label="Loading readiness" rows={2} />}>
        {(readiness) => <Evidence readiness={readiness} />}
      </QueryBoundary>
    </Panel>
  );
}

function Evidence({ readiness }: { readiness: NodeReadiness }) {
  const { state, checks, checked_at: checkedAt, reboot_required: reboot } = readiness;
  if (state === 'unknown' || !checkedAt) return <p className="text-sm text-ink-muted">Not checked yet.</p>;
  const misses = checks.filter((check) => check.state !== 'ok');
  return (
    <div className="flex flex-col gap-3 text-sm">
      <p className="flex flex-wrap items-center gap-2 text-ink-muted">
        <Badge tone={state === 'ready' ? 'success' : 'danger'}>
          {state === 'ready' ? 'Ready for slices' : 'Not ready'}
        </Badge>
        {reboot && <Badge tone="warn">Reboot required</Badge>}
        <span>
          {pluralize(checks.length - misses.length, 'check')} passed, checked{' '}
          <RelativeTime since={checkedAt} />
        </span>
      </p>
      {misses.length > 0 && (
        <ul className="flex flex-col gap-2">
          {misses.map((check) => (
            <Miss key={check.id} check={check} />
          ))}
        </ul>
      )}
      <details>
        <summary className="cursor-pointer text-ink-faint">All evidence</summary>
        <ul className="mt-2 flex flex-col gap-1 text-ink-muted">
          {checks.map((check) => (
            <li key={check.id}>
              <span className="text-ink">{humanize(check.id)}</span>: {check.evidence}
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}

function Miss({ check }: { check: Check }) {
  return (
    <li className="flex flex-col gap-0.5">
      <span className="flex flex-wrap items-center gap-2">
        <Badge tone={CHECK_TONES[check.state]}>{humanize(check.state)}</Badge>
        <span className="font-medium">{humanize(check.id)}</span>
      </span>
      <span className="text-ink-muted">{check.evidence}</span>
      {check.remedy && <span>Remedy: {check.remedy}</span>}
    </li>
  );
}
