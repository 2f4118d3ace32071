import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { cancelOnboarding, onboardingsQuery } from '../api/fleet/maas.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import type { NodeOnboarding } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Panel } from '../ui/panel.tsx';
import { ShowMore } from '../ui/tables/show-more.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import type { Tone } from '../ui/values/tone.ts';

const TONES: Record<NodeOnboarding['state'], Tone> = {
  running: 'info',
  succeeded: 'success',
  failed: 'danger',
  cancelled: 'neutral',
};
const STEP_TONES: Record<NodeOnboarding['steps'][number]['state'], Tone> = {
  waiting: 'neutral',
  running: 'info',
  done: 'success',
  failed: 'danger',
  skipped: 'neutral',
};

/** Machines being onboarded, step by step; hidden when there are none. */
export function OnboardingsPanel() {
  const query = useInfiniteQuery(onboardingsQuery);
  if (query.data?.length === 0) return null;
  return (
    <Panel title="Onboarding">
      <QueryBoundary query={query} loading={<Skeleton label="Loading onboardings" rows={1} />}>
        {(onboardings) => (
          <>
            <ul className="flex flex-col gap-4 text-sm">
              {onboardings.map((onboarding) => (
                <Onboarding key={onboarding.id} onboarding={onboarding} />
              ))}
            </ul>
            <ShowMore query={query} />
          </>
        )}
      </QueryBoundary>
    </Panel>
  );
}

function Onboarding({ onboarding }: { onboarding: NodeOnboarding }) {
  const { hostname, state, steps, detail, undone, node_id: nodeId, requested_at: at } = onboarding;
  const current = steps.find((step) => step.state === 'running');
  return (
    <li className="flex flex-col gap-1.5" aria-label={hostname}>
      <span className="flex flex-wrap items-center gap-2">
        <Badge tone={TONES[state]} moving={state === 'running'}>
          {humanize(state)}
        </Badge>
        {nodeId ? (
          <Link to="/operator/nodes/$nodeId" params={{ nodeId }} className="font-medium text-accent">
            {hostname}
          </Link>
        ) : (
          <span className="font-medium">{hostname}</span>
        )}
        <span className="text-ink-faint">
          <Timestamp at={at} as="clock" />
        </span>
        {state === 'running' && <Cancel onboarding={onboarding} />}
      </span>
      <ol className="flex flex-wrap gap-1.5">
        {steps.map((step) => (
          <li key={step.step}>
            <Badge tone={STEP_TONES[step.state]} moving={step.state === 'running'}>
              {humanize(step.step)}
              <span className="sr-only">: {humanize(step.state)}</span>
            </Badge>
          </li>
        ))}
      </ol>
      {current?.message && <span className="wrap-anywhere text-ink-muted">{current.message}</span>}
      {detail && (
        <span className="wrap-anywhere text-ink-muted">
          {detail} {undone ? 'Returned to MAAS.' : 'Not returned to MAAS.'}
        </span>
      )}
    </li>
  );
}

function Cancel({ onboarding }: { onboarding: NodeOnboarding }) {
  const refusal = usePlatformDisabledReason('fleet.enrol');
  const cancel = useRefreshingMutation({
    mutationFn: () => cancelOnboarding(onboarding.id),
    refreshes: [operatorKeys.onboardings],
  });
  return (
    <ConfirmButton
      label="Cancel"
      title={`Cancel onboarding of ${onboarding.hostname}?`}
      confirmLabel="Cancel onboarding"
      disabledReason={onboarding.cancel_requested_at ? 'Already being cancelled.' : refusal}
      act={cancel}
    >
      The current MAAS operation is aborted and the machine is returned to MAAS.
    </ConfirmButton>
  );
}
