import { revokeShareLink } from '../../api/apps/sharing.ts';
import { appKeys } from '../../api/query-keys.ts';
import type { AppShareLink } from '../../api/types.ts';
import { useRefreshingMutation } from '../../api/use-refreshing-mutation.ts';
import { ConfirmButton } from '../../ui/actions/confirm-button.tsx';
import { Timestamp } from '../../ui/values/timestamp.tsx';

export function ShareLinkLine({ link, refusal }: { link: AppShareLink; refusal: string | null }) {
  const revoke = useRefreshingMutation({
    mutationFn: () => revokeShareLink(link),
    refreshes: [appKeys.shareLinks(link.app_instance_id)],
  });
  const name = link.note === '' ? 'Link' : link.note;
  return (
    <li className="flex items-center justify-between gap-3 text-sm">
      <span>
        {name}
        <span className="block text-xs text-ink-faint">
          until <Timestamp at={link.expires_at} />
        </span>
      </span>
      <ConfirmButton
        label="Revoke"
        title={`Revoke ${name}?`}
        confirmLabel="Revoke"
        disabledReason={refusal}
        act={revoke}
      >
        Visitors who came with the link are cut off within seconds.
      </ConfirmButton>
    </li>
  );
}
