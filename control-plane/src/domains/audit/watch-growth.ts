import { sql } from 'kysely';
import type { Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import { openIncident, resolveIncident } from '../incidents/open-incident.ts';
import { one } from '../../platform/db/one.ts';

const LOG = { targetType: 'audit_log', targetId: 'audit_log' } as const;

/** Nobody can delete audit rows before their time, so somebody must hear of it when they become too many. */
export const watchAuditGrowth: Tick<Services> = {
  name: 'audit.watch_growth',
  everySeconds: 300,
  catchUp: 'skip',
  async run({ db, clock, policies }) {
    const limit = policies.get('audit.alarm_rows_per_hour');
    await db.transaction().execute(async (tx) => {
      // Counts no further than it must.
      const row = await one(
        sql<{ recent: number }>`
        select count(*)::int as recent from (
          select 1 from audit_logs where occurred_at > ${new Date(clock.now().getTime() - HOUR_MS)}
          limit ${limit + 1}) as counted`,
        tx,
      );
      if (row.recent <= limit) {
        const incident = { type: 'audit_log_growing', targetId: LOG.targetId } as const;
        await resolveIncident(tx, clock.now(), incident, 'The audit log grows as usual again.');
        return;
      }
      await openIncident(tx, clock.now(), {
        ...LOG,
        type: 'audit_log_growing',
        summary: `More than ${limit} audit rows were written within an hour.`,
        detail: { rows_per_hour: limit, most: await mostWritten(tx, clock.now()) },
      });
    });
  },
};

const HOUR_MS = 3_600_000;
const LATELY_MS = 300_000;

/** What wrote most in the last minutes, by action, result and address. */
async function mostWritten(tx: Tx, now: Date): Promise<object[]> {
  const { rows } = await sql<object>`
    select action, result, host(ip) as ip, count(*)::int as rows from audit_logs
    where occurred_at > ${new Date(now.getTime() - LATELY_MS)}
    group by 1, 2, 3 order by 4 desc limit 5`.execute(tx);
  return rows;
}
