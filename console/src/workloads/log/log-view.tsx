import { useEffect, useRef, useState } from 'react';
import type { AppInstanceMember } from '../../api/types.ts';
import { formatBytes } from '../../format/bytes.ts';
import { Button } from '../../ui/actions/button.tsx';
import { ProblemNotice } from '../../ui/feedback/problem-notice.tsx';
import type { LogText } from './log-text.ts';
import { useLog } from './use-log.ts';

/** The page begins with the end of a long log. */
const TAIL_BYTES = 64 * 1024;
/** Closer to the end than this counts as the end. */
const NEAR_PX = 24;

/** The log of a member. It stays at its end while somebody reads there. */
export function LogView({ instanceId, member }: { instanceId: string; member: AppInstanceMember }) {
  const [from, setFrom] = useState(() => Math.max(0, member.log_bytes - TAIL_BYTES));
  const [following, setFollowing] = useState(true);
  const { log, error } = useLog({ instanceId, memberId: member.id, from });
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (following && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [following, log.text]);
  return (
    <div className="flex flex-col gap-2">
      <div className="flex min-h-7 flex-wrap items-center justify-between gap-2 text-xs text-ink-faint">
        <span role="status">{describe(log, member)}</span>
        <span className="flex gap-2">
          {log.cut && from > 0 && (
            <Button size="sm" onClick={() => setFrom(0)}>
              Show from the start
            </Button>
          )}
          {!following && (
            <Button size="sm" onClick={() => setFollowing(true)}>
              Go to the end
            </Button>
          )}
        </span>
      </div>
      {error && <ProblemNotice error={error} />}
      <pre
        ref={box}
        role="region"
        aria-label="Output"
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
          setFollowing(scrollHeight - scrollTop - clientHeight < NEAR_PX)
        }
        className="max-h-96 min-h-24 overflow-auto rounded-md border border-line bg-sunken p-3 font-mono text-xs leading-relaxed wrap-anywhere whitespace-pre-wrap"
      >
        {log.text || (log.complete ? 'It printed nothing.' : '')}
      </pre>
      {log.truncated && (
        <p className="text-xs text-ink-faint">
          It printed more than the policy keeps; the rest is not stored.
        </p>
      )}
      {log.cut && from === 0 && (
        <p className="text-xs text-ink-faint">
          Only the end is shown here. <code>gpuaas apps logs {instanceId}</code> prints all of it.
        </p>
      )}
    </div>
  );
}

function describe({ complete, text }: LogText, { log_bytes: bytes }: AppInstanceMember): string {
  if (complete) return `Complete, ${formatBytes(bytes)}`;
  return text === '' ? 'Waiting for output' : 'Following live';
}
