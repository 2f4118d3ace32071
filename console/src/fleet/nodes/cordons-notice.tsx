import type { Node } from '../../api/types.ts';
import { humanize } from '../../format/humanize.ts';
import { Notice } from '../../ui/feedback/notice.tsx';
import { RelativeTime } from '../../ui/values/timestamp.tsx';

/** Reasons why the host gets no new placements; each is removed with its cause. */
export function CordonsNotice({ node }: { node: Node }) {
  if (node.cordons.length === 0 && !node.draining) return null;
  return (
    <Notice tone="warn" title="New placements are blocked on this host">
      {node.draining && <p>Draining: {node.drain_reason ?? 'no reason given'}</p>}
      {node.cordons.map(({ reason, detail, since }) => (
        <p key={reason}>
          {humanize(reason)}: {detail}{' '}
          <span className="text-ink-faint">
            since <RelativeTime since={since} />
          </span>
        </p>
      ))}
    </Notice>
  );
}
