import { useInfiniteQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { bindingsQuery, deleteBinding } from '../api/organization/access.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationDisabledReason } from '../api/me.ts';
import type { Organization, PermissionBinding } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { humanize } from '../format/humanize.ts';
import { Button } from '../ui/actions/button.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { BindDialog } from './bind-dialog.tsx';
import { usePrincipalNames } from './principal-names.ts';
import { NameWithDetail } from '../ui/values/name-with-detail.tsx';

/** Role assignments of the organization and its projects. */
export function BindingsPanel({ organization }: { organization: Organization }) {
  const [binding, setBinding] = useState(false);
  const query = useInfiniteQuery(bindingsQuery(organization.id));
  const nameOf = usePrincipalNames(organization.id);
  const refusal = useOrganizationDisabledReason(organization.id, 'access.manage');
  const projects = new Map(organization.projects.map(({ id, name }) => [id, name]));
  return (
    <Panel
      title="Permission group assignments"
      flush
      aside={
        <Button size="sm" disabledReason={refusal} onClick={() => setBinding(true)}>
          Grant permission group
        </Button>
      }
    >
      <ResourceList
        label="Permission group assignments"
        query={query}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={KeyRound} title="No permission groups granted yet">
            Grant a permission group to a member, a team or a service account.
          </EmptyState>
        }
        columns={[
          {
            header: 'Granted to',
            cell: ({ holder }) => (
              <NameWithDetail name={nameOf(holder)}>{humanize(holder.type)}</NameWithDetail>
            ),
          },
          { header: 'Permission group', cell: ({ permission_group_name: name }) => name },
          {
            header: 'Scope',
            cell: ({ project_id: id }) => (
              <span className="text-ink-muted">{id ? (projects.get(id) ?? 'Project') : 'Organization'}</span>
            ),
            from: 'sm',
          },
          { header: 'Since', cell: ({ created_at: at }) => <Timestamp at={at} />, from: 'lg' },
          {
            header: 'Actions',
            align: 'right',
            cell: (row) => <Unbind binding={row} holder={nameOf(row.holder)} refusal={refusal} />,
          },
        ]}
      />
      {binding && <BindDialog organization={organization} onClose={() => setBinding(false)} />}
    </Panel>
  );
}

interface UnbindProps {
  binding: PermissionBinding;
  holder: string;
  refusal: string | null;
}

function Unbind({ binding, holder, refusal }: UnbindProps) {
  const take = useRefreshingMutation({
    mutationFn: () => deleteBinding(binding.id),
    refreshes: [
      organizationKeys.bindings(binding.organization_id),
      organizationKeys.members(binding.organization_id),
    ],
  });
  return (
    <RowActions>
      <ConfirmButton
        label="Revoke"
        title={`Revoke ${binding.permission_group_name}?`}
        confirmLabel="Revoke"
        disabledReason={refusal}
        act={take}
      >
        {holder} loses these permissions immediately, including in open terminals.
      </ConfirmButton>
    </RowActions>
  );
}
