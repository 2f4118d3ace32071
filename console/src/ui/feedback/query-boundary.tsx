import type { ReactNode } from 'react';
import { ProblemError } from '@gpuaas/sdk/problem';
import { useLostAt } from '../../live/connection.ts';
import { NoPermission } from './no-permission.tsx';
import { Notice } from './notice.tsx';
import { ProblemNotice } from './problem-notice.tsx';

interface LoadedProps<Data> {
  query: { data: Data | undefined; error: Error | null; refetch: () => unknown };
  loading: ReactNode;
  /** Content when the resource does not exist. */
  missing?: ReactNode;
  children: (data: Data) => ReactNode;
}

/** One API response on a page: loading, refused, missing or loaded. Loaded content stays during a refresh. */
export function QueryBoundary<Data>({ query, loading, missing, children }: LoadedProps<Data>) {
  const isLost = useLostAt() !== null;
  // An address with a malformed id leads nowhere either.
  if (query.error instanceof ProblemError && [400, 404].includes(query.error.problem.status) && missing)
    return missing;
  if (query.data !== undefined) return children(query.data);
  if (isLost) return <NotLoaded />;
  if (!query.error) return loading;
  if (query.error instanceof ProblemError && query.error.problem.status === 403) {
    return <NoPermission detail={query.error.problem.detail ?? query.error.problem.title} />;
  }
  return (
    <div className="p-4">
      <ProblemNotice error={query.error} onRetry={() => void query.refetch()} />
    </div>
  );
}

function NotLoaded() {
  return (
    <div className="p-4">
      <Notice tone="warn" title="Not available offline">
        <p>This was not loaded before the connection was lost. It appears when the server answers again.</p>
      </Notice>
    </div>
  );
}
