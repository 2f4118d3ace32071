import { useInfiniteQuery } from '@tanstack/react-query';
import { invitationsQuery, revokeInvitation } from '../api/organization/members.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationDisabledReason } from '../api/me.ts';
import type { Invitation } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { humanize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import type { Tone } from '../ui/values/tone.ts';

const TONES: Record<Invitation['state'], Tone> = {
  pending: 'info',
  accepted: 'success',
  revoked: 'neutral',
  expired: 'neutral',
};

const COLUMNS: Column<Invitation>[] = [
  { header: 'Invited', cell: ({ email }) => <span className="font-medium">{email}</span> },
  { header: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{humanize(state)}</Badge> },
  {
    header: 'Permission group',
    cell: ({ permission_group: group }) => <span className="text-ink-muted">{humanize(group)}</span>,
    from: 'md',
  },
  {
    header: 'Expires',
    cell: ({ expires_at: at }) => (
      <span className="text-ink-muted">
        <Timestamp at={at} />
      </span>
    ),
    from: 'lg',
  },
  { header: 'Actions', cell: (invitation) => <Revoke invitation={invitation} />, align: 'right' },
];

export function InvitationsPanel({ organizationId }: { organizationId: string }) {
  const query = useInfiniteQuery(invitationsQuery(organizationId));
  return (
    <Panel title="Invitations" flush>
      <ResourceList
        label="Invitations"
        query={query}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={<p className="p-4 text-sm text-ink-muted">No pending invitations</p>}
      />
    </Panel>
  );
}

function Revoke({ invitation }: { invitation: Invitation }) {
  const refusal = useOrganizationDisabledReason(invitation.organization_id, 'member.manage');
  const revoke = useRefreshingMutation({
    mutationFn: () => revokeInvitation(invitation.id),
    refreshes: [organizationKeys.invitations(invitation.organization_id)],
  });
  if (invitation.state !== 'pending') return null;
  return (
    <RowActions>
      <ConfirmButton
        label="Revoke"
        title="Revoke the invitation?"
        confirmLabel="Revoke"
        disabledReason={refusal}
        act={revoke}
      >
        The link sent to {invitation.email} stops working.
      </ConfirmButton>
    </RowActions>
  );
}
