import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { ProblemNotice } from '../ui/feedback/problem-notice.tsx';

/** A page that could not start, mostly because the API did not answer. */
export function RouteError({ error }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <main className="mx-auto flex min-h-dvh max-w-lg flex-col justify-center p-6">
      <ProblemNotice
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => void router.invalidate()}
      />
    </main>
  );
}
