import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ProblemError } from '@gpuaas/sdk/problem';
import { ME_KEY } from './query-keys.ts';

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeSignedOut }),
  mutationCache: new MutationCache({ onError: noticeSignedOut }),
  defaultOptions: {
    queries: { staleTime: 5_000, retry: shouldRetry },
  },
});

/** The sign-in is over; the shell sees it and leads to the landing page. */
export function clearSignIn() {
  queryClient.setQueryData(ME_KEY, null);
}

function noticeSignedOut(error: Error) {
  if (error instanceof ProblemError && error.problem.status === 401) clearSignIn();
}

/** A refusal is final; a lost connection or a broken server may recover. */
export function shouldRetry(failures: number, error: Error) {
  if (error instanceof ProblemError && error.problem.status < 500) return false;
  return failures < 2;
}
