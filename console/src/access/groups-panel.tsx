import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { deletePermissionGroup, permissionGroupsQuery } from '../api/organization/access.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useOrganizationDisabledReason } from '../api/me.ts';
import type { PermissionGroup } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { pluralize } from '../format/humanize.ts';
import { Badge } from '../ui/values/badge.tsx';
import { Button } from '../ui/actions/button.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Panel } from '../ui/panel.tsx';
import { ShowMore } from '../ui/tables/show-more.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { NewGroupDialog } from './new-group-dialog.tsx';

export function GroupsPanel({ organizationId }: { organizationId: string }) {
  const [making, setMaking] = useState(false);
  const query = useInfiniteQuery(permissionGroupsQuery(organizationId));
  const refusal = useOrganizationDisabledReason(organizationId, 'access.manage');
  return (
    <Panel
      title="Permission groups"
      flush
      aside={
        <Button size="sm" disabledReason={refusal} onClick={() => setMaking(true)}>
          New permission group
        </Button>
      }
    >
      <QueryBoundary query={query} loading={<Skeleton label="Loading permission groups" />}>
        {(groups) => (
          <>
            <ul className="divide-y divide-line">
              {groups.map((group) => (
                <GroupRow key={group.id} group={group} organizationId={organizationId} refusal={refusal} />
              ))}
            </ul>
            <ShowMore query={query} />
            {making && (
              <NewGroupDialog
                organizationId={organizationId}
                groups={groups}
                onClose={() => setMaking(false)}
              />
            )}
          </>
        )}
      </QueryBoundary>
    </Panel>
  );
}

interface GroupRowProps {
  group: PermissionGroup;
  organizationId: string;
  refusal: string | null;
}

function GroupRow({ group, organizationId, refusal }: GroupRowProps) {
  const remove = useRefreshingMutation({
    mutationFn: () => deletePermissionGroup(group.id),
    refreshes: [organizationKeys.groups(organizationId), organizationKeys.bindings(organizationId)],
  });
  return (
    <li className="flex flex-wrap items-start justify-between gap-3 px-4 py-3 text-sm">
      <details className="min-w-0 flex-1">
        <summary className="cursor-pointer">
          <span className="font-medium">{group.name}</span>{' '}
          <span className="text-ink-faint">
            {pluralize(group.permissions.length, 'permission')} ·{' '}
            {group.scope === 'tenant' ? 'organization' : 'project or organization'}
          </span>
        </summary>
        {group.description && <p className="pt-2 text-ink-muted">{group.description}</p>}
        <ul className="flex flex-wrap gap-1.5 pt-2">
          {group.permissions.map((permission) => (
            <li key={permission} className="rounded border border-line bg-sunken px-1.5 font-mono text-xs">
              {permission}
            </li>
          ))}
        </ul>
      </details>
      {group.built_in ? (
        <Badge tone="neutral">Built in</Badge>
      ) : (
        <ConfirmButton
          label="Delete"
          title={`Delete the permission group ${group.name}?`}
          confirmLabel="Delete"
          disabledReason={refusal}
          act={remove}
        >
          Everyone with this permission group loses its permissions.
        </ConfirmButton>
      )}
    </li>
  );
}
