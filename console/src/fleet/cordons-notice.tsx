import type { Node } from '../api/types.ts';
import { inWords } from '../format/words.ts';
import { Notice } from '../ui/notice.tsx';
import { Age } from '../ui/timestamp.tsx';

/** Why nothing new is placed on the host; each reason goes with its cause. */
export function CordonsNotice({ node }: { node: Node }) {
  if (node.cordons.length === 0 && !node.draining) return null;
  return (
    <Notice tone="warn" title="Nothing new is placed on this host">
      {node.draining && <p>Draining: {node.drain_reason ?? 'no reason given'}</p>}
      {node.cordons.map(({ reason, detail, since }) => (
        <p key={reason}>
          {inWords(reason)}: {detail}{' '}
          <span className="text-ink-faint">
            since <Age since={since} />
          </span>
        </p>
      ))}
    </Notice>
  );
}
