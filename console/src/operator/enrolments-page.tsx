import { useInfiniteQuery } from '@tanstack/react-query';
import { PlugZap } from 'lucide-react';
import { enrolmentsQuery, revokeEnrolment } from '../api/fleet/node-identity.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import type { NodeEnrolment } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Surface } from '../ui/surface.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import type { Tone } from '../ui/values/tone.ts';
import { NewEnrolment } from './new-enrolment.tsx';

const TONES: Record<NodeEnrolment['state'], Tone> = {
  open: 'info',
  used: 'success',
  expired: 'neutral',
  revoked: 'neutral',
};

const COLUMNS: Column<NodeEnrolment>[] = [
  { header: 'Host', cell: (enrolment) => <span className="font-medium">{hostOf(enrolment)}</span> },
  { header: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{humanize(state)}</Badge> },
  { header: 'Region', cell: ({ region }) => <span className="text-ink-muted">{region}</span>, from: 'md' },
  { header: 'Created', cell: ({ created_at: at }) => <Timestamp at={at} />, from: 'lg' },
  {
    header: 'Used or expires',
    cell: ({ used_at: used, expires_at: expires }) => <Timestamp at={used ?? expires} />,
    from: 'sm',
  },
  { header: 'Actions', cell: (enrolment) => <Revoke enrolment={enrolment} />, align: 'right' },
];

export function EnrolmentsPage() {
  const query = useInfiniteQuery(enrolmentsQuery);
  return (
    <Page title="Enrolments" subtitle="One-time tokens for enrolling hosts" actions={<NewEnrolment />}>
      <Surface>
        <ResourceList
          label="Enrolments"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={PlugZap} title="No enrolment tokens yet">
              Create one for your first host to get its install command.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}

function Revoke({ enrolment }: { enrolment: NodeEnrolment }) {
  const refusal = usePlatformDisabledReason('fleet.enrol');
  const revoke = useRefreshingMutation({
    mutationFn: () => revokeEnrolment(enrolment.id),
    refreshes: [operatorKeys.enrolments],
  });
  if (enrolment.state !== 'open') return null;
  return (
    <RowActions>
      <ConfirmButton
        label="Revoke"
        title={`Revoke the token for ${hostOf(enrolment).toLowerCase()}?`}
        confirmLabel="Revoke"
        disabledReason={refusal}
        act={revoke}
      >
        The token stops working. The host needs a new one to enrol.
      </ConfirmButton>
    </RowActions>
  );
}

function hostOf({ hostname }: NodeEnrolment): string {
  return hostname ?? 'Any new host';
}
