import { sql } from 'kysely';
import { Gauge, type Registry } from 'prom-client';
import type { Db } from '../db/database.ts';
import { inScope } from '../db/scope.ts';
import type { Logger } from './logger.ts';

/** Scrapes within this time share one reading, however many scrapers there are. */
const FRESH_MS = 5000;
const STATEMENT_TIMEOUT_MS = 2000;

/** Backlogs as the database knows them; each query touches only what is still open. */
const READINGS = `
  select 'workflows' as gauge, status as label, count(*)::float8 as value from dbos.workflow_status
    where status in ('PENDING', 'ENQUEUED', 'ERROR', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED') group by status
  union all
  select 'workflows', 'starting', count(*) from workflow_starts
  union all
  select 'oldest_workflow', status, extract(epoch from now()) - min(created_at) / 1000.0 from dbos.workflow_status
    where status in ('PENDING', 'ENQUEUED') group by status
  union all
  select 'oldest_workflow', 'starting', coalesce(extract(epoch from now() - min(created_at)), 0) from workflow_starts
  union all
  select 'node_tasks', state, count(*) from node_tasks where state in ('queued', 'claimed') group by state
  union all
  select 'queue_waiting', reason, count(*) from queued_launches group by reason
  union all
  select 'queue_oldest', reason, extract(epoch from now() - min(queued_at)) from queued_launches group by reason
  union all
  select 'consumer_lag', c.name, coalesce(extract(epoch from now() - (
      select e.occurred_at from outbox_events e where (e.xid, e.position) > (c.cursor_xid, c.cursor_position)
      order by e.xid, e.position limit 1)), 0) from event_consumers c
  union all
  select 'emails', state, count(*) from notification_emails where state = 'pending' group by state
  union all
  select 'oldest_email', state, extract(epoch from now() - min(created_at)) from notification_emails
    where state = 'pending' group by state
  union all
  select * from (
    with head as (
      select coalesce(max(upto_xid), 0) as xid, coalesce((select upto_id from audit_segments order by segment desc limit 1),
        '00000000-0000-0000-0000-000000000000') as id from audit_segments
    ), unsealed as (
      select count(*) as rows, coalesce(extract(epoch from now() - min(l.occurred_at)), 0) as seconds
      from head, audit_logs l where (l.xid, l.id) > (head.xid, head.id)
    )
    select 'audit_unsealed', 'audit_logs', rows from unsealed
    union all
    select 'audit_seal_lag', 'audit_logs', seconds from unsealed
  ) as audit`;

const GAUGES = {
  workflows: ['gpuaas_workflows', 'Workflows that have not ended well, by state.', 'state'],
  oldest_workflow: ['gpuaas_workflow_oldest_age_seconds', 'Age of the oldest workflow in a state.', 'state'],
  node_tasks: ['gpuaas_node_tasks_open', 'Node tasks waiting for or held by an agent.', 'state'],
  queue_waiting: ['gpuaas_queued_launches', 'Launches that wait in line, by what they wait for.', 'reason'],
  queue_oldest: ['gpuaas_queued_launch_oldest_age_seconds', 'Longest wait in line so far.', 'reason'],
  consumer_lag: [
    'gpuaas_event_consumer_lag_seconds',
    'Age of the first event a consumer has not handled.',
    'consumer',
  ],
  emails: ['gpuaas_emails', 'E-mails that have not been sent.', 'state'],
  oldest_email: [
    'gpuaas_email_oldest_age_seconds',
    'Age of the oldest e-mail that has not been sent.',
    'state',
  ],
  audit_unsealed: ['gpuaas_audit_unsealed_rows', 'Audit rows that are not sealed yet.', 'log'],
  audit_seal_lag: ['gpuaas_audit_seal_lag_seconds', 'Age of the oldest audit row that is not sealed.', 'log'],
} as const;

interface Reading {
  gauge: string;
  label: string;
  value: number;
}

/** Gauges of the platform's backlogs. A database that does not answer in time shows as `gpuaas_readings_up` 0. */
export class PlatformMetrics {
  readonly #db: Db;
  readonly #log: Logger;
  readonly #up: Gauge;
  readonly #gauges: Record<string, { gauge: Gauge; label: string }>;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(registry: Registry, db: Db, log: Logger) {
    this.#db = db;
    this.#log = log;
    this.#up = new Gauge({
      name: 'gpuaas_readings_up',
      help: '1 when the last reading of the backlogs succeeded.',
      registers: [registry],
    });
    this.#gauges = Object.fromEntries(
      Object.entries(GAUGES).map(([key, [name, help, label]]) => [
        key,
        { label, gauge: new Gauge({ name, help, labelNames: [label], registers: [registry] }) },
      ]),
    );
  }

  /** Brings the gauges up to date; at most one reading runs at a time. */
  async refresh(): Promise<void> {
    if (performance.now() - this.#readAt < FRESH_MS) return;
    this.#reading ??= this.#read().finally(() => {
      this.#readAt = performance.now();
      this.#reading = null;
    });
    await this.#reading;
  }

  async #read(): Promise<void> {
    try {
      const rows = await this.#query();
      for (const { gauge } of Object.values(this.#gauges)) gauge.reset();
      for (const row of rows) {
        const { gauge, label } = this.#gauges[row.gauge]!;
        gauge.set({ [label]: row.label.toLowerCase() }, row.value);
      }
      this.#up.set(1);
    } catch (error) {
      this.#up.set(0);
      this.#log.warn({ err: error }, 'backlogs could not be read for metrics');
    }
  }

  async #query(): Promise<Reading[]> {
    return await inScope(this.#db, { role: 'gpuaas_operator' }, async (tx) => {
      await sql.raw(`set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`).execute(tx);
      const { rows } = await sql.raw<Reading>(READINGS).execute(tx);
      return rows;
    });
  }
}
