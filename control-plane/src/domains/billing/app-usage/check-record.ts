import type { components } from '@gpuaas/contracts/generated/openapi.ts';

export type ReportedRecord = components['schemas']['AppUsageReport'] & {
  /** Set by the platform itself, which knows which instance was used; producers outside cannot name one. */
  app_instance_id?: string;
};

/** Known projects, allocations and members among those that the records of a batch name. */
export interface RecordReferences {
  /** Project to tenant. */
  projects: ReadonlyMap<string, string>;
  /** Allocation to project. */
  allocations: ReadonlyMap<string, string>;
  /** `tenant user` for each member. */
  members: ReadonlySet<string>;
}

export interface RecordRejection {
  code: 'place_unknown' | 'time_refused';
  detail: string;
}

/** Tolerated difference between the clocks of producers and ours. */
const CLOCK_SKEW_MS = 300_000;

/** Why a record is refused; null if it is accepted. */
export function checkRecord(
  record: ReportedRecord,
  known: RecordReferences,
  rules: { now: Date; maxAgeSeconds: number },
): RecordRejection | null {
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

/** The price of a lease includes the time on it; a database constraint enforces this too. */
export function isCoveredByLease({ dimension, allocation_id }: ReportedRecord): boolean {
  return dimension === 'model_seconds' && allocation_id !== undefined;
}
