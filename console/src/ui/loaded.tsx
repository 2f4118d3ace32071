import type { ReactNode } from 'react';
import { ProblemError } from '@gpuaas/sdk/problem';
import { NoPermission } from './no-permission.tsx';
import { ProblemNotice } from './problem-notice.tsx';

interface LoadedProps<Data> {
  query: { data: Data | undefined; error: Error | null; refetch: () => unknown };
  loading: ReactNode;
  /** What to show when there is no such resource. */
  missing?: ReactNode;
  children: (data: Data) => ReactNode;
}

/** One answer of the API on a page: loading, refused, missing or there. What was loaded stays while it refreshes. */
export function Loaded<Data>({ query, loading, missing, children }: LoadedProps<Data>) {
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
