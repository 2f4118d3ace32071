import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { readinessQuery, startReadinessCheck } from '../api/fleet-facts.ts';
import { fleetKeys } from '../api/query-keys.ts';
import { mayOnPlatform, useMe } from '../api/session.ts';
import type { Node, NodeReadiness } from '../api/types.ts';
import { counted, inWords } from '../format/words.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { ProblemNotice } from '../ui/problem-notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Age } from '../ui/timestamp.tsx';
import type { Tone } from '../ui/tone.ts';

type Check = NodeReadiness['checks'][number];

const CHECK_TONES: Record<Check['state'], Tone> = {
  ok: 'success',
  warning: 'warn',
  missing: 'danger',
  unknown: 'danger',
};

/** What the host can do by its own evidence, with the remedy for each miss. */
export function ReadinessPanel({ node }: { node: Node }) {
  const query = useQuery(readinessQuery(node.id));
  const queryClient = useQueryClient();
  const me = useMe();
  const check = useMutation({
    mutationFn: () => startReadinessCheck(node.id),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: fleetKeys.tasks(node.id) }),
  });
  const refusal = !mayOnPlatform(me, 'fleet.discover')
    ? 'You lack the permission fleet.discover.'
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
      <Loaded query={query} loading={<Skeleton label="Loading the readiness" rows={2} />}>
        {(readiness) => <Evidence readiness={readiness} />}
      </Loaded>
    </Panel>
  );
}

function Evidence({ readiness }: { readiness: NodeReadiness }) {
  const { state, checks, checked_at: checkedAt, reboot_required: reboot } = readiness;
  if (state === 'unknown' || !checkedAt)
    return <p className="text-sm text-ink-muted">The host was not checked yet.</p>;
  const misses = checks.filter((check) => check.state !== 'ok');
  return (
    <div className="flex flex-col gap-3 text-sm">
      <p className="flex flex-wrap items-center gap-2 text-ink-muted">
        <Badge tone={state === 'ready' ? 'success' : 'danger'}>
          {state === 'ready' ? 'Ready for slices' : 'Not ready'}
        </Badge>
        {reboot && <Badge tone="warn">Reboot required</Badge>}
        <span>
          {counted(checks.length - misses.length, 'check')} passed, looked at <Age since={checkedAt} />
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
              <span className="text-ink">{inWords(check.id)}</span>: {check.evidence}
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
        <Badge tone={CHECK_TONES[check.state]}>{inWords(check.state)}</Badge>
        <span className="font-medium">{inWords(check.id)}</span>
      </span>
      <span className="text-ink-muted">{check.evidence}</span>
      {check.remedy && <span>Remedy: {check.remedy}</span>}
    </li>
  );
}
