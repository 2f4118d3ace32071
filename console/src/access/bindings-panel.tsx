import { useInfiniteQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { bindingsQuery, unbind } from '../api/access.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationRefusal } from '../api/session.ts';
import type { Organization, PermissionBinding } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { inWords } from '../format/words.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Panel } from '../ui/panel.tsx';
import { ResourceList } from '../ui/resource-list.tsx';
import { RowActions } from '../ui/row-actions.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import { BindDialog } from './bind-dialog.tsx';
import { useHolderNames } from './holder-names.ts';

/** Who holds which permission group, and where. */
export function BindingsPanel({ organization }: { organization: Organization }) {
  const [binding, setBinding] = useState(false);
  const query = useInfiniteQuery(bindingsQuery(organization.id));
  const nameOf = useHolderNames(organization.id);
  const refusal = useOrganizationRefusal(organization.id, 'access.manage');
  const projects = new Map(organization.projects.map(({ id, name }) => [id, name]));
  return (
    <Panel
      title="Bindings"
      flush
      aside={
        <Button size="sm" disabledReason={refusal} onClick={() => setBinding(true)}>
          Bind a group
        </Button>
      }
    >
      <ResourceList
        label="Bindings"
        query={query}
        rowKey={({ id }) => id}
        empty={
          <EmptyState icon={KeyRound} title="Nothing is bound">
            Bind a permission group to a member, a team or a service account.
          </EmptyState>
        }
        columns={[
          {
            header: 'Holder',
            cell: ({ holder }) => (
              <span className="flex flex-col">
                <span className="font-medium">{nameOf(holder)}</span>
                <span className="text-xs text-ink-faint">{inWords(holder.type)}</span>
              </span>
            ),
          },
          { header: 'Permission group', cell: ({ permission_group_name: name }) => name },
          {
            header: 'Where',
            cell: ({ project_id: id }) => (
              <span className="text-ink-muted">
                {id ? (projects.get(id) ?? 'A project') : 'The organization'}
              </span>
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
  const take = useChange({
    mutationFn: () => unbind(binding.id),
    refreshes: [
      organizationKeys.bindings(binding.organization_id),
      organizationKeys.members(binding.organization_id),
    ],
  });
  return (
    <RowActions>
      <ConfirmButton
        label="Unbind"
        title={`Unbind ${binding.permission_group_name}?`}
        confirmLabel="Unbind"
        disabledReason={refusal}
        act={take}
      >
        {holder} loses what the group permits, at once and in open terminals too.
      </ConfirmButton>
    </RowActions>
  );
}
