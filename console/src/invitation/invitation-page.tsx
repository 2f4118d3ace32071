import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMe } from '../api/me.ts';
import { acceptInvitation, createOrganization, invitationQuery } from '../api/account/invitation.ts';
import { ME_KEY } from '../api/query-keys.ts';
import type { InvitationPreview } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Logo } from '../shell/logo.tsx';
import { Button } from '../ui/actions/button.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { ProblemNotice } from '../ui/feedback/problem-notice.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { useDocumentTitle } from '../ui/page.tsx';
import { Surface } from '../ui/surface.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';

const route = getRouteApi('/invitation');

/** Asks before somebody joins an organization: a link alone must not do it. */
export function InvitationPage() {
  useDocumentTitle('Invitation');
  const { token } = route.useSearch();
  const query = useQuery(invitationQuery(token));
  return (
    <main className="mx-auto flex min-h-dvh max-w-lg flex-col gap-6 px-5 py-10">
      <Logo />
      <h1 className="text-xl font-semibold">Invitation</h1>
      <Surface>
        <div className="flex flex-col gap-4 p-5">
          <QueryBoundary query={query} loading={<Skeleton label="Loading the invitation" rows={3} />}>
            {(invitation) => <Question token={token} invitation={invitation} />}
          </QueryBoundary>
        </div>
      </Surface>
    </main>
  );
}

function Question({ token, invitation }: { token: string; invitation: InvitationPreview }) {
  const me = useMe();
  const navigate = useNavigate();
  const goHome = () => void navigate({ to: '/' });
  const accept = useRefreshingMutation({
    mutationFn: () => acceptInvitation(token),
    refreshes: [ME_KEY],
    onSuccess: goHome,
  });
  const decline = useRefreshingMutation({
    mutationFn: async () => {
      // Somebody new has no organization yet; without this invitation they get one like anybody else.
      if (me?.organizations.length === 0) await createOrganization(`${me.user?.name ?? 'My'}'s organization`);
    },
    refreshes: [ME_KEY],
    onSuccess: goHome,
  });
  const { organization_name: organization, project_name: project, invited_by: inviter } = invitation;
  return (
    <>
      <p>
        <strong>{inviter.name}</strong>
        {inviter.email && ` (${inviter.email})`} invites you to join <strong>{organization}</strong> as{' '}
        {invitation.permission_group}
        {project ? ` in the project ${project}` : ''}.
      </p>
      <p className="text-sm text-ink-muted">
        You are signed in as {me?.user?.email}. The invitation ends <Timestamp at={invitation.expires_at} />.
      </p>
      {accept.error && <ProblemNotice error={accept.error} />}
      {decline.error && <ProblemNotice error={decline.error} />}
      <div className="flex gap-2">
        <Button variant="primary" busy={accept.isPending} onClick={() => accept.mutate()}>
          Join {organization}
        </Button>
        <Button busy={decline.isPending} onClick={() => decline.mutate()}>
          Not now
        </Button>
      </div>
    </>
  );
}
