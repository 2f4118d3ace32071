import { Problem } from '../../../platform/http/problem.ts';
import type { Policies } from '../../../platform/policy/policies.ts';

/** How long a lease with an agreed end may last, in seconds. */
export function maxLeaseSeconds(
  policies: Policies,
  { organizationId, projectId }: { organizationId: string; projectId: string },
): number {
  return policies.get('allocations.max_duration_seconds', { organizationId, projectId });
}

export function requireAllowedDuration(
  policies: Policies,
  project: { id: string; organization_id: string },
  seconds: number | undefined,
): void {
  const longest = maxLeaseSeconds(policies, {
    organizationId: project.organization_id,
    projectId: project.id,
  });
  if (seconds === undefined || seconds <= longest) return;
  const detail = `must be at most ${longest}`;
  throw new Problem('duration_refused', `The maximum duration is ${longest} s.`, {
    extensions: { longest_seconds: longest },
    errors: [{ pointer: '/max_duration_seconds', code: 'duration_refused', detail }],
  });
}
