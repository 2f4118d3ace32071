import { useState } from 'react';
import { useOrganizationDisabledReason } from '../api/me.ts';
import { ProjectPage } from '../shell/project-page.tsx';
import { Button } from '../ui/actions/button.tsx';
import { InvitationsPanel } from './invitations-panel.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { MembersPanel } from './members-panel.tsx';

export function MembersPage() {
  return (
    <ProjectPage
      title="Members"
      subtitle={({ organization }) => `Members and pending invitations of ${organization.name}`}
      actions={({ organization }) => <InviteButton organizationId={organization.id} />}
    >
      {({ organization }) => (
        <>
          <MembersPanel organizationId={organization.id} />
          <InvitationsPanel organizationId={organization.id} />
        </>
      )}
    </ProjectPage>
  );
}

function InviteButton({ organizationId }: { organizationId: string }) {
  const [open, setOpen] = useState(false);
  const refusal = useOrganizationDisabledReason(organizationId, 'member.manage');
  return (
    <>
      <Button variant="primary" disabledReason={refusal} onClick={() => setOpen(true)}>
        Invite
      </Button>
      {open && <InviteDialog organizationId={organizationId} onClose={() => setOpen(false)} />}
    </>
  );
}
