import type { components } from '@gpuaas/contracts/generated/openapi.ts';

export type ReportedRecord = components['schemas']['AppUsageReport'];

/** What is known of the places that the records of a batch name. */
export interface KnownPlaces {
  /** Project to tenant. */
  projects: ReadonlyMap<string, string>;
  /** Allocation to project. */
  allocations: ReadonlyMap<string, string>;
  /** `tenant user` for each member. */
  members: ReadonlySet<string>;
}

export interface Refusal {
  code: 'place_unknown' | 'time_refused';
  detail: string;
}

/** Clocks of producers may differ by so much. */
const CLOCK_SKEW_MS = 300_000;

/** Why a record cannot be taken; null when it can. */
export function checkRecord(
  record: ReportedRecord,
  known: KnownPlaces,
  rules: { now: Date; maxAgeSeconds: number },
): Refusal | null {
  const { organization_id, project_id, allocation_id, user_id } = record;
  if (known.projects.get(project_id) !== organization_id) {
    return { code: 'place_unknown', detail: 'the tenant has no such project' };
  }
  if (allocation_id && known.allocations.get(allocation_id) !== project_id) {
    return { code: 'place_unknown', detail: 'the project has no such allocation' };
  }
  if (user_id && !known.members.has(`${organization_id} ${user_id}`)) {
    return { code: 'place_unknown', detail: 'the tenant has no such member' };
  }
  const age = rules.now.getTime() - Date.parse(record.occurred_at);
  if (age < -CLOCK_SKEW_MS) return { code: 'time_refused', detail: 'occurred_at is in the future' };
  if (age > rules.maxAgeSeconds * 1000) {
    return { code: 'time_refused', detail: `occurred_at is more than ${rules.maxAgeSeconds} s ago` };
  }
  return null;
}

/** Time on a lease of the tenant's own is in the price of the lease; the database holds the same. */
export function paidByLease({ dimension, allocation_id }: ReportedRecord): boolean {
  return dimension === 'model_seconds' && allocation_id !== undefined;
}
