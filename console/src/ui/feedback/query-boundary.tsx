import type { ReactNode } from 'react';
import { ProblemError } from '@gpuaas/sdk/problem';
import { NoPermission } from './no-permission.tsx';
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
  if (query.error instanceof ProblemError && query.error.problem.status === 404 && missing) return missing;
  if (query.data !== undefined) return children(query.data);
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
