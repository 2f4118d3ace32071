import { useQuery } from '@tanstack/react-query';
import { addressQuery } from '../../api/apps/instances.ts';
import { setSharing, shareLinksQuery } from '../../api/apps/sharing.ts';
import { useMe, useProjectDisabledReason } from '../../api/me.ts';
import { appKeys } from '../../api/query-keys.ts';
import type { AppInstance, AppSharing } from '../../api/types.ts';
import { useRefreshingMutation } from '../../api/use-refreshing-mutation.ts';
import { ProblemNotice } from '../../ui/feedback/problem-notice.tsx';
import { QueryBoundary } from '../../ui/feedback/query-boundary.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Select } from '../../ui/forms/select.tsx';
import { Panel } from '../../ui/panel.tsx';
import { NewShareLink } from './new-share-link.tsx';
import { ShareLinkLine } from './share-link-line.tsx';
import { levelRefusal, SHARING_LEVELS } from './sharing-levels.ts';

/** Who may open the app besides its owner. */
export function SharePanel({ instance }: { instance: AppInstance }) {
  const address = useQuery(addressQuery(instance.id));
  const links = useQuery(shareLinksQuery(instance.id));
  const isOwner = useMe()?.user?.id === instance.created_by;
  const permission = useProjectDisabledReason(instance.project_id, 'app_instance.share');
  const newLink = permission ?? (isOwner ? null : 'Only who started it makes links.');
  return (
    <Panel title="Sharing" aside={<NewShareLink instanceId={instance.id} refusal={newLink} />}>
      <div className="flex flex-col gap-4">
        <QueryBoundary query={address} loading={<Skeleton label="Loading the sharing" rows={1} />}>
          {({ sharing }) => (
            <SharingSelect id={instance.id} sharing={sharing} isOwner={isOwner} permission={permission} />
          )}
        </QueryBoundary>
        <QueryBoundary query={links} loading={<Skeleton label="Loading share links" rows={1} />}>
          {(items) =>
            items.length === 0 ? (
              <p className="text-sm text-ink-muted">No share links.</p>
            ) : (
              <ul className="flex flex-col gap-3">
                {items.map((link) => (
                  <ShareLinkLine key={link.id} link={link} refusal={permission} />
                ))}
              </ul>
            )
          }
        </QueryBoundary>
      </div>
    </Panel>
  );
}

function SharingSelect({
  id,
  sharing,
  isOwner,
  permission,
}: {
  id: string;
  sharing: AppSharing;
  isOwner: boolean;
  permission: string | null;
}) {
  const change = useRefreshingMutation({ mutationFn: setSharing, refreshes: [appKeys.address(id)] });
  const options = SHARING_LEVELS.map((level) => ({
    ...level,
    disabledReason: permission ?? levelRefusal(level.value, sharing, isOwner),
  }));
  return (
    <div className="flex flex-col gap-1.5">
      <Select
        label="Who may open it"
        options={options}
        value={sharing}
        onChange={(next) => change.mutate({ id, sharing: next })}
      />
      {change.error && <ProblemNotice error={change.error} />}
    </div>
  );
}
