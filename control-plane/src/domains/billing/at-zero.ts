import type { Policies } from '../../platform/policy/policies.ts';

/** What happens when the money is used up, in the words that tenants read before a launch and in every warning. */
export function atZero(policies: Policies, organizationId: string): string {
  const grace = policies.get('billing.grace_seconds', { organizationId });
  return `New leases are refused; running ones are released ${inWords(grace)} later, and their disks are wiped.`;
}

function inWords(seconds: number): string {
  if (seconds > 0 && seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds > 0 && seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}
