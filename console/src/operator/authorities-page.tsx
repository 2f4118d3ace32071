import { useInfiniteQuery } from '@tanstack/react-query';
import { BadgeCheck } from 'lucide-react';
import { authoritiesQuery, rotateAuthority, retireAuthority } from '../api/fleet/node-identity.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformDisabledReason } from '../api/me.ts';
import type { NodeAuthority } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Surface } from '../ui/surface.tsx';
import { CopyButton } from '../ui/actions/copy-button.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import type { Tone } from '../ui/values/tone.ts';
import { ReasonButton } from './reason-button.tsx';

const TONES: Record<NodeAuthority['state'], Tone> = {
  signing: 'success',
  trusted: 'info',
  retired: 'neutral',
};

const COLUMNS: Column<NodeAuthority>[] = [
  {
    header: 'Authority',
    cell: ({ subject, fingerprint }) => (
      <span className="flex flex-col">
        <span className="font-medium">{subject}</span>
        <span className="inline-flex items-center text-xs text-ink-faint">
          <code title={fingerprint} className="block max-w-56 truncate font-mono">
            {fingerprint}
          </code>
          <CopyButton value={fingerprint} label="fingerprint" />
        </span>
      </span>
    ),
  },
  { header: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{humanize(state)}</Badge> },
  { header: 'Hosts', cell: ({ hosts }) => hosts.toLocaleString('en-US'), align: 'right', from: 'sm' },
  {
    header: 'Certificates',
    cell: ({ valid_certificates: valid }) => valid.toLocaleString('en-US'),
    align: 'right',
    from: 'md',
  },
  { header: 'Expires', cell: ({ expires_at: at }) => <Timestamp at={at} />, from: 'lg' },
  { header: 'Actions', cell: (authority) => <Retire authority={authority} />, align: 'right' },
];

export function AuthoritiesPage() {
  const query = useInfiniteQuery(authoritiesQuery);
  const refusal = usePlatformDisabledReason('fleet.identity');
  const replace = useRefreshingMutation({
    mutationFn: rotateAuthority,
    refreshes: [operatorKeys.authorities],
  });
  return (
    <Page
      title="Node certificate authorities"
      subtitle="Authorities that sign host certificates. A replaced authority stays trusted until it is retired."
      actions={
        <ReasonButton
          label="Rotate authority"
          variant="primary"
          size="md"
          title="Rotate the authority?"
          submitLabel="Rotate"
          disabledReason={refusal}
          act={replace}
        >
          New certificates are signed with a new key. Hosts switch over when they renew; nothing is
          interrupted.
        </ReasonButton>
      }
    >
      <Surface>
        <ResourceList
          label="Node certificate authorities"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={BadgeCheck} title="No authorities yet">
              The first one is created when the first host enrols.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}

function Retire({ authority }: { authority: NodeAuthority }) {
  const permission = usePlatformDisabledReason('fleet.identity');
  const retire = useRefreshingMutation({
    mutationFn: (reason: string) => retireAuthority({ id: authority.id, reason }),
    refreshes: [operatorKeys.authorities],
  });
  if (authority.state !== 'trusted') return null;
  const inUse =
    authority.valid_certificates > 0
      ? `${authority.valid_certificates} valid certificates depend on it; they renew within a day.`
      : null;
  return (
    <RowActions>
      <ReasonButton
        label="Retire"
        variant="danger"
        size="sm"
        title={`Retire ${authority.subject}?`}
        submitLabel="Retire"
        disabledReason={permission ?? inUse}
        act={retire}
      >
        Certificates signed by it and enrolment tokens issued under it stop working.
      </ReasonButton>
    </RowActions>
  );
}
