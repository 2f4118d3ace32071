import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { createBinding, permissionGroupsQuery } from '../api/organization/access.ts';
import { membersQuery } from '../api/organization/members.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { serviceAccountsQuery } from '../api/organization/service-accounts.ts';
import { teamsQuery } from '../api/organization/teams.ts';
import type { Holder, Organization } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { Select } from '../ui/forms/select.tsx';

const WHOLE = 'all';

interface BindDialogProps {
  organization: Organization;
  onClose: () => void;
}

export function BindDialog({ organization, onClose }: BindDialogProps) {
  const [group, setGroup] = useState<string | null>(null);
  const [where, setWhere] = useState(WHOLE);
  const [holderKey, setHolderKey] = useState<string | null>(null);
  const groups = useInfiniteQuery(permissionGroupsQuery(organization.id)).data ?? [];
  const holders = useHolders(organization, where);
  const holder = holders.find(({ value }) => value === holderKey)?.holder;
  const tenantOnly = groups.find(({ id }) => id === group)?.scope === 'tenant';
  const save = useRefreshingMutation({
    mutationFn: createBinding,
    refreshes: [organizationKeys.bindings(organization.id), organizationKeys.members(organization.id)],
    onSuccess: onClose,
  });
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Grant a permission group"
      submitLabel="Grant"
      refusal={group && holder ? null : 'Choose a permission group and a member.'}
      busy={save.isPending}
      error={save.error}
      onSubmit={() =>
        group &&
        holder &&
        save.mutate({
          organization_id: organization.id,
          permission_group: group,
          holder,
          ...(tenantOnly || where === WHOLE ? {} : { project_id: where }),
        })
      }
    >
      <div className="flex flex-col gap-1.5">
        <Select
          label="Permission group"
          value={group}
          onChange={setGroup}
          options={groups.map(({ id, name, scope }) => ({
            value: id,
            label: name,
            hint: scope === 'tenant' ? 'Organization-wide only' : 'One project or all projects',
          }))}
        />
      </div>
      {!tenantOnly && (
        <div className="flex flex-col gap-1.5">
          <Select
            label="Scope"
            value={where}
            onChange={setWhere}
            options={[
              { value: WHOLE, label: 'All projects' },
              ...organization.projects.map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
        </div>
      )}
      <div className="flex flex-col gap-1.5">
        <Select label="Granted to" value={holderKey} onChange={setHolderKey} options={holders} />
      </div>
    </FormDialog>
  );
}

interface HolderOption {
  value: string;
  label: string;
  hint: string;
  holder: Holder;
}

/** Members, teams, and the service accounts of the chosen project. */
function useHolders(organization: Organization, where: string): HolderOption[] {
  const members = useInfiniteQuery(membersQuery(organization.id)).data ?? [];
  const teams = useInfiniteQuery(teamsQuery(organization.id)).data ?? [];
  const accounts = useInfiniteQuery({ ...serviceAccountsQuery(where), enabled: where !== WHOLE }).data ?? [];
  const option = (type: Holder['type'], id: string, label: string, hint: string) => ({
    value: `${type}:${id}`,
    label,
    hint,
    holder: { type, id },
  });
  return [
    ...members.map((member) => option('user', member.user_id, member.name, member.email)),
    ...teams.map((team) => option('team', team.id, team.name, 'Team')),
    ...accounts.map((account) => option('service_account', account.id, account.name, 'Service account')),
  ];
}
