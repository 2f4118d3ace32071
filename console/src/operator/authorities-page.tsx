import { useInfiniteQuery } from '@tanstack/react-query';
import { BadgeCheck } from 'lucide-react';
import { authoritiesQuery, replaceAuthority, retireAuthority } from '../api/node-identity.ts';
import { operatorKeys } from '../api/query-keys.ts';
import { usePlatformRefusal } from '../api/session.ts';
import type { NodeAuthority } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { inWords } from '../format/words.ts';
import { Badge } from '../ui/badge.tsx';
import type { Column } from '../ui/data-table.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Page } from '../ui/page.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Surface } from '../ui/surface.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import type { Tone } from '../ui/tone.ts';
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
  { header: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{inWords(state)}</Badge> },
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
  const refusal = usePlatformRefusal('fleet.identity');
  const replace = useChange({ mutationFn: replaceAuthority, refreshes: [operatorKeys.authorities] });
  return (
    <Page
      title="Node authorities"
      subtitle="Who vouches for hosts. A new one signs at once; the one before is trusted until it is retired."
      actions={
        <ReasonButton
          label="Replace the authority"
          variant="primary"
          size="md"
          title="Replace the authority?"
          submitLabel="Replace"
          disabledReason={refusal}
          act={replace}
        >
          New certificates are signed by a new key from now on. Hosts change over by themselves as they renew;
          nothing is cut off.
        </ReasonButton>
      }
    >
      <Surface>
        <ResourceList
          label="Node authorities"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={BadgeCheck} title="There is no authority">
              The first one is made when the first host is enrolled.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}

function Retire({ authority }: { authority: NodeAuthority }) {
  const permission = usePlatformRefusal('fleet.identity');
  const retire = useChange({
    mutationFn: (reason: string) => retireAuthority({ id: authority.id, reason }),
    refreshes: [operatorKeys.authorities],
  });
  if (authority.state !== 'trusted') return null;
  const inUse =
    authority.valid_certificates > 0
      ? `${authority.valid_certificates} valid certificates were signed by it; they renew within a day.`
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
        Certificates it signed are refused from then on, and tokens minted under it no longer enrol.
      </ReasonButton>
    </RowActions>
  );
}
