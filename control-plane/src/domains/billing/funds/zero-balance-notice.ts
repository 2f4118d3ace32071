import type { Policies } from '../../../platform/policy/policies.ts';

/** Grace is for tenants that have paid or received credit: no other tenant runs unpaid. */
export function graceSeconds(policies: Pick<Policies, 'get'>, organizationId: string, paid: boolean): number {
  return paid ? policies.get('billing.grace_seconds', { organizationId }) : 0;
}

/** Consequences of exhausted funds, as tenants read them before a launch and in every warning. */
export function zeroBalanceNotice(
  policies: Pick<Policies, 'get'>,
  organizationId: string,
  paid: boolean,
): string {
  const grace = graceSeconds(policies, organizationId, paid);
  const when = grace === 0 ? 'immediately' : `${inWords(grace)} later`;
  return `New launches are refused. Running leases are released ${when} and their disks wiped.`;
}

function inWords(seconds: number): string {
  if (seconds > 0 && seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds > 0 && seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}
