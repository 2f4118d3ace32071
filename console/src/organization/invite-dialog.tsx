import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { permissionGroupsQuery } from '../api/organization/access.ts';
import { createInvitation } from '../api/organization/members.ts';
import { organizationKeys } from '../api/query-keys.ts';
import { useMe } from '../api/me.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { SecretDialog } from '../ui/forms/secret-dialog.tsx';
import { Select } from '../ui/forms/select.tsx';

interface InviteDialogProps {
  organizationId: string;
  onClose: () => void;
}

const WHOLE = 'all';

export function InviteDialog({ organizationId, onClose }: InviteDialogProps) {
  const me = useMe();
  const [email, setEmail] = useState('');
  const [group, setGroup] = useState('regular_user');
  const [project, setProject] = useState(WHOLE);
  const groups = useInfiniteQuery(permissionGroupsQuery(organizationId)).data ?? [];
  const projects = me?.organizations.find(({ id }) => id === organizationId)?.projects ?? [];
  const send = useRefreshingMutation({
    mutationFn: createInvitation,
    refreshes: [organizationKeys.invitations(organizationId)],
    onSuccess: ({ accept_url: link }) => link ?? onClose(),
  });
  const chosen = groups.find(({ id }) => id === group);
  const link = send.data?.accept_url ?? null;
  return (
    <>
      <FormDialog
        open={link === null}
        onClose={onClose}
        title="Invite a member"
        submitLabel="Invite"
        refusal={email.includes('@') ? null : 'Enter the e-mail address to invite.'}
        busy={send.isPending}
        error={send.error}
        onSubmit={() =>
          send.mutate({
            organization_id: organizationId,
            email,
            permission_group: group,
            ...(project === WHOLE || chosen?.scope === 'tenant' ? {} : { project_id: project }),
          })
        }
      >
        <Field label="E-mail" type="email" value={email} onChange={setEmail} maxLength={254} />
        <div className="flex flex-col gap-1.5">
          <Select
            label="Permission group"
            value={group}
            onChange={setGroup}
            options={groups.map(({ id, name, description }) => ({
              value: id,
              label: name,
              ...(description ? { hint: description } : {}),
            }))}
          />
        </div>
        {chosen?.scope !== 'tenant' && (
          <div className="flex flex-col gap-1.5">
            <Select
              label="Scope"
              value={project}
              onChange={setProject}
              options={[
                { value: WHOLE, label: 'All projects' },
                ...projects.map(({ id, name }) => ({ value: id, label: name })),
              ]}
            />
          </div>
        )}
      </FormDialog>
      <SecretDialog secret={link} title={`Invitation for ${email}`} label="Invitation link" onClose={onClose}>
        <p className="text-sm text-ink-muted">
          Send it to {email}. It works once, and only for that address.
        </p>
      </SecretDialog>
    </>
  );
}
