import { useInfiniteQuery } from '@tanstack/react-query';
import { PlugZap } from 'lucide-react';
import { enrolmentsQuery, revokeEnrolment } from '../api/node-identity.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { NodeEnrolment } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { inWords } from '../format/words.ts';
import { Badge } from '../ui/badge.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Surface } from '../ui/surface.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import type { Tone } from '../ui/tone.ts';
import { NewEnrolment } from './new-enrolment.tsx';

const TONES: Record<NodeEnrolment['state'], Tone> = {
  open: 'info',
  used: 'success',
  expired: 'neutral',
  revoked: 'neutral',
};

const COLUMNS: Column<NodeEnrolment>[] = [
  { header: 'Host', cell: (enrolment) => <span className="font-medium">{hostOf(enrolment)}</span> },
  { header: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{inWords(state)}</Badge> },
  { header: 'Region', cell: ({ region }) => <span className="text-ink-muted">{region}</span>, from: 'md' },
  { header: 'Minted', cell: ({ created_at: at }) => <Timestamp at={at} />, from: 'lg' },
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
    <Page
      title="Enrolments"
      subtitle="One-time tokens with which hosts get their identity."
      actions={<NewEnrolment />}
    >
      <Surface>
        <ResourceList
          label="Enrolments"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={PlugZap} title="No token was minted">
              Mint one for the first host; the command to run there comes with it.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}

function Revoke({ enrolment }: { enrolment: NodeEnrolment }) {
  const refusal = usePlatformRefusal('fleet.enrol');
  const revoke = useChange({
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
        The token stops working; the host needs another one to enrol.
      </ConfirmButton>
    </RowActions>
  );
}

function hostOf({ hostname }: NodeEnrolment): string {
  return hostname ?? 'Any new host';
}
