import { ProblemError } from '@gpuaas/sdk/problem';
import type { ReactNode } from 'react';
import { Button } from '../actions/button.tsx';
import { CopyButton } from '../actions/copy-button.tsx';
import { Notice } from './notice.tsx';

interface ProblemNoticeProps {
  error: Error;
  onRetry?: () => void;
  /** A further action against the problem. */
  action?: ReactNode;
  children?: ReactNode;
}

/** A refusal or failure of the API: title, reason, and the id that support will ask for. */
export function ProblemNotice({ error, onRetry, action, children }: ProblemNoticeProps) {
  const problem = error instanceof ProblemError ? error.problem : null;
  const actions = (
    <>
      {action}
      {onRetry && (
        <Button size="sm" onClick={onRetry}>
          Try again
        </Button>
      )}
    </>
  );
  return (
    <Notice tone="danger" title={problem?.title ?? 'Cannot reach the server'} action={actions}>
      <p>{problem ? problem.detail : 'Check your connection and try again.'}</p>
      {problem?.errors && (
        <ul className="list-disc pl-4">
          {problem.errors.map((miss) => (
            <li key={miss.pointer + miss.detail}>
              {miss.detail} <code className="font-mono text-xs text-ink-muted">{miss.pointer}</code>
            </li>
          ))}
        </ul>
      )}
      {children}
      {problem && (
        <p className="flex items-center gap-1 text-xs">
          <span className="shrink-0">Correlation id</span>
          <code title={problem.correlation_id} className="truncate font-mono">
            {problem.correlation_id}
          </code>
          <CopyButton value={problem.correlation_id} label="correlation id" />
        </p>
      )}
    </Notice>
  );
}
