import { sql } from 'kysely';
import { monthStart } from '../../platform/clock.ts';
import type { Tx } from '../../platform/db/database.ts';
import { recordAudit } from '../../platform/audit/record.ts';
import { recordRetirement } from '../../platform/audit/record-retirement.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';

/** Drops whole months of the audit log that are old enough, sealed to the last row, and exported. */
export const retireMonthsTick: Tick<Services> = {
  name: 'audit.retire_months',
  everySeconds: 6 * 3600,
  catchUp: 'skip',
  async run(services) {
    await retireAuditMonths(services);
  },
};

interface Candidate {
  month: string;
  first_segment: string;
  last_segment: string;
  row_count: string;
}

/** The signed retirement and the drop commit together. Returns the retired months. */
export async function retireAuditMonths(
  services: Pick<Services, 'db' | 'clock' | 'keys' | 'policies'>,
): Promise<string[]> {
  const months = services.policies.get('audit.retention_months');
  const now = services.clock.now();
  const before = monthStart(now, -months);
  return await services.db.transaction().execute(async (tx) => {
    const retired = [];
    for (const candidate of await exportedMonths(tx, before)) {
      await retire(services, tx, candidate, now);
      retired.push(candidate.month);
    }
    if (retired.length > 0) await sql`select drop_month_partitions('audit_logs', ${before})`.execute(tx);
    return retired;
  });
}

/** Months that ended before `before` and whose confirmed export contains all their rows. */
async function exportedMonths(tx: Tx, before: Date): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`
    select to_char(e.month, 'YYYY-MM-DD') as month, min(s.segment)::text as first_segment,
      max(s.segment)::text as last_segment, sum(s.row_count)::text as row_count
    from audit_exports e join audit_segments s on s.month = e.month
    where (e.month + interval '1 month') at time zone 'UTC' <= ${before}
      and not exists (select from audit_retirements r where r.month = e.month)
      and (select count(*) from audit_logs l where l.occurred_at >= e.month at time zone 'UTC'
        and l.occurred_at < (e.month + interval '1 month') at time zone 'UTC') = e.row_count
    group by e.month, e.last_segment having max(s.segment) = e.last_segment order by e.month`.execute(tx);
  return rows;
}

async function retire(
  { keys }: Pick<Services, 'keys'>,
  tx: Tx,
  candidate: Candidate,
  now: Date,
): Promise<void> {
  await recordRetirement(tx, keys, { ...candidate, retired_at: now.toISOString() });
  await recordAudit(tx, {
    actorUserId: null,
    actorKind: 'system',
    actorRole: 'system',
    action: 'audit.retire_month',
    targetType: 'audit_month',
    targetId: candidate.month.slice(0, 7),
    result: 'succeeded',
    correlationId: newId(),
    detail: { ...candidate },
  });
}
