import { useQuery } from '@tanstack/react-query';
import { disableMember, enableMember, handoverQuery, removeMember } from '../api/members.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useMe, useOrganizationRefusal } from '../api/session.ts';
import type { Member } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { counted } from '../format/words.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmButton } from '../ui/confirm-button.tsx';
import { RowActions } from '../ui/row-actions.tsx';

export function MemberActions({ member }: { member: Member }) {
  const me = useMe();
  const refusal =
    useOrganizationRefusal(member.organization_id, 'member.manage') ??
    (member.user_id === me?.user?.id ? 'Somebody else has to do this to you.' : null);
  const refreshes = [organizationKeys.members(member.organization_id)];
  const disable = useChange({ mutationFn: () => disableMember(member.id), refreshes });
  const enable = useChange({ mutationFn: () => enableMember(member.id), refreshes });
  const remove = useChange({ mutationFn: () => removeMember(member.id), refreshes });
  return (
    <RowActions>
      {member.state === 'active' ? (
        <ConfirmButton
          label="Disable"
          variant="secondary"
          title={`Disable ${member.name}?`}
          confirmLabel="Disable"
          disabledReason={refusal}
          act={disable}
        >
          Every session, API key and open terminal of {member.email} in this organization ends. Allocations go
          on; they can be enabled again.
          <LeftBehind memberId={member.id} />
        </ConfirmButton>
      ) : (
        <Button size="sm" disabledReason={refusal} busy={enable.isPending} onClick={() => enable.mutate()}>
          Enable
        </Button>
      )}
      <ConfirmButton
        label="Remove"
        title={`Remove ${member.name}?`}
        confirmLabel="Remove"
        disabledReason={refusal}
        act={remove}
      >
        {member.email} loses every permission in this organization and its API keys are revoked. To come back
        they have to be invited again.
        <LeftBehind memberId={member.id} />
      </ConfirmButton>
    </RowActions>
  );
}

/** What the member owns and others take over. */
function LeftBehind({ memberId }: { memberId: string }) {
  const { data } = useQuery(handoverQuery(memberId));
  if (!data) return null;
  return (
    <div className="mt-3 flex flex-col gap-1 text-ink">
      <p>
        {counted(data.api_keys, 'API key')} will be revoked.{' '}
        {data.resources.length === 0
          ? 'Nothing changes hands.'
          : `${data.truncated ? 'More than ' : ''}${counted(data.resources.length, 'resource')} will be handed to the project's administrators:`}
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
