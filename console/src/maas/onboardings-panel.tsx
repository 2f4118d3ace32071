import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { cancelOnboarding, onboardingsQuery } from '../api/maas.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { NodeOnboarding } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { inWords } from '../format/words.ts';
import { Badge } from '../ui/badge.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Panel } from '../ui/panel.tsx';
import { ShowMore } from '../ui/show-more.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import type { Tone } from '../ui/tone.ts';

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

/** Machines on their way into the fleet, step by step; nothing where there was none. */
export function OnboardingsPanel() {
  const query = useInfiniteQuery(onboardingsQuery);
  if (query.data?.length === 0) return null;
  return (
    <Panel title="On their way">
      <Loaded query={query} loading={<Skeleton label="Loading onboardings" rows={1} />}>
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
      </Loaded>
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
          {inWords(state)}
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
              {inWords(step.step)}
              <span className="sr-only">: {inWords(step.state)}</span>
            </Badge>
          </li>
        ))}
      </ol>
      {current?.message && <span className="wrap-anywhere text-ink-muted">{current.message}</span>}
      {detail && (
        <span className="wrap-anywhere text-ink-muted">
          {detail} {undone ? 'MAAS has it back.' : 'MAAS did not get it back.'}
        </span>
      )}
    </li>
  );
}

function Cancel({ onboarding }: { onboarding: NodeOnboarding }) {
  const refusal = usePlatformRefusal('fleet.enrol');
  const cancel = useChange({
    mutationFn: () => cancelOnboarding(onboarding.id),
    refreshes: [operatorKeys.onboardings],
  });
  return (
    <ConfirmButton
      label="Cancel"
      title={`Stop bringing in ${onboarding.hostname}?`}
      confirmLabel="Stop"
      disabledReason={onboarding.cancel_requested_at ? 'It is being stopped.' : refusal}
      act={cancel}
    >
      What MAAS is doing to the machine is stopped, and MAAS gets it back.
    </ConfirmButton>
  );
}
