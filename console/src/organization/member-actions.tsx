import { useQuery } from '@tanstack/react-query';
import { disableMember, enableMember, handoverQuery, removeMember } from '../api/organization/members.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useMe, useOrganizationDisabledReason } from '../api/me.ts';
import type { Member } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { pluralize } from '../format/humanize.ts';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { EnableOrDisable } from './enable-or-disable.tsx';

export function MemberActions({ member }: { member: Member }) {
  const me = useMe();
  const refusal =
    useOrganizationDisabledReason(member.organization_id, 'member.manage') ??
    (member.user_id === me?.user?.id ? "You can't remove yourself" : null);
  const refreshes = [organizationKeys.members(member.organization_id)];
  const disable = useRefreshingMutation({ mutationFn: () => disableMember(member.id), refreshes });
  const enable = useRefreshingMutation({ mutationFn: () => enableMember(member.id), refreshes });
  const remove = useRefreshingMutation({ mutationFn: () => removeMember(member.id), refreshes });
  return (
    <RowActions>
      <EnableOrDisable
        name={member.name}
        isActive={member.state === 'active'}
        refusal={refusal}
        disable={disable}
        enable={enable}
      >
        All sign-ins, API keys and open terminals of {member.email} in this organization are ended.
        Allocations keep running, and the member can be enabled again.
        <LeftBehind memberId={member.id} />
      </EnableOrDisable>
      <ConfirmButton
        label="Remove"
        title={`Remove ${member.name}?`}
        confirmLabel="Remove"
        disabledReason={refusal}
        act={remove}
      >
        {member.email} loses access to this organization and their API keys are revoked. They must be invited
        again to return.
        <LeftBehind memberId={member.id} />
      </ConfirmButton>
    </RowActions>
  );
}

/** Resources of the member that others take over. */
function LeftBehind({ memberId }: { memberId: string }) {
  const { data } = useQuery(handoverQuery(memberId));
  if (!data) return null;
  return (
    <div className="mt-3 flex flex-col gap-1 text-ink">
      <p>
        {pluralize(data.api_keys, 'API key')} and{' '}
        {pluralize(data.service_account_tokens, 'service account token')} will be revoked.{' '}
        {data.resources.length === 0
          ? 'No resources are transferred.'
          : `${data.truncated ? 'More than ' : ''}${pluralize(data.resources.length, 'resource')} will be transferred to the project's admins:`}
      </p>
      <ul className="list-disc pl-4 text-ink-muted">
        {data.resources.slice(0, 8).map((owned) => (
          <li key={owned.resource_id}>
            {owned.name} <span className="text-ink-faint">({owned.resource_type})</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
