import { sql } from 'kysely';
import { Gauge, type Registry } from 'prom-client';
import { present } from '../present.ts';
import type { Db } from '../db/database.ts';
import { inScope } from '../db/scope.ts';
import type { Logger } from './logger.ts';

/** Scrapes within this time share one reading, for any number of scrapers. */
const FRESH_MS = 5000;
const STATEMENT_TIMEOUT_MS = 2000;

/** A backlog as the database knows it. Its query touches only what is still open. */
export interface BacklogGauge {
  name: string;
  help: string;
  /** What the readings differ in. */
  label: string;
  /** Two columns: the value of the label, and a number. */
  query: string;
}

const UNSEALED = `with head as (
    select coalesce(max(upto_xid), 0) as xid, coalesce((select upto_id from audit_segments order by segment desc limit 1),
      '00000000-0000-0000-0000-000000000000') as id from audit_segments
  )`;

/** The backlogs of the platform itself. */
const PLATFORM_GAUGES: readonly BacklogGauge[] = [
  {
    name: 'gpuaas_workflows',
    help: 'Workflows that have not ended well, by state.',
    label: 'state',
    query: `select status, count(*) from dbos.workflow_status
        where status in ('PENDING', 'ENQUEUED', 'ERROR', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED') group by status
      union all
      select 'starting', count(*) from workflow_starts`,
  },
  {
    name: 'gpuaas_workflow_oldest_age_seconds',
    help: 'Age of the oldest workflow in a state.',
    label: 'state',
    query: `select status, extract(epoch from now()) - min(created_at) / 1000.0 from dbos.workflow_status
        where status in ('PENDING', 'ENQUEUED') group by status
      union all
      select 'starting', coalesce(extract(epoch from now() - min(created_at)), 0) from workflow_starts`,
  },
  {
    name: 'gpuaas_event_consumer_lag_seconds',
    help: 'Age of the first event a consumer has not handled.',
    label: 'consumer',
    query: `select c.name, coalesce(extract(epoch from now() - (
        select e.occurred_at from outbox_events e where (e.xid, e.position) > (c.cursor_xid, c.cursor_position)
        order by e.xid, e.position limit 1)), 0) from event_consumers c`,
  },
  {
    name: 'gpuaas_audit_unsealed_rows',
    help: 'Audit rows that are not sealed yet.',
    label: 'log',
    query: `${UNSEALED} select 'audit_logs', count(*) from head, audit_logs l where (l.xid, l.id) > (head.xid, head.id)`,
  },
  {
    name: 'gpuaas_audit_seal_lag_seconds',
    help: 'Age of the oldest audit row that is not sealed.',
    label: 'log',
    query: `${UNSEALED} select 'audit_logs', coalesce(extract(epoch from now() - min(l.occurred_at)), 0)
      from head, audit_logs l where (l.xid, l.id) > (head.xid, head.id)`,
  },
  {
    name: 'gpuaas_blobs_unsettled',
    help: 'Stored content that is on its way, damaged or to be removed, by state.',
    label: 'state',
    query: `select state, count(*) from blobs where state <> 'stored' group by state`,
  },
];

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
  readonly #statement: string;
  readonly #gauges: Record<string, { gauge: Gauge; label: string }>;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(registry: Registry, db: Db, log: Logger, ofDomains: readonly BacklogGauge[]) {
    const gauges = [...PLATFORM_GAUGES, ...ofDomains];
    this.#db = db;
    this.#log = log;
    this.#up = new Gauge({
      name: 'gpuaas_readings_up',
      help: '1 when the last reading of the backlogs succeeded.',
      registers: [registry],
    });
    this.#gauges = Object.fromEntries(
      gauges.map(({ name, help, label }) => [
        name,
        { label, gauge: new Gauge({ name, help, labelNames: [label], registers: [registry] }) },
      ]),
    );
    this.#statement = gauges
      .map(
        ({ name, query }) =>
          `select '${name}' as gauge, label, value::float8 from (${query}) as r (label, value)`,
      )
      .join(' union all ');
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
        const { gauge, label } = present(this.#gauges[row.gauge], `gauge ${row.gauge}`);
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
      const { rows } = await sql.raw<Reading>(this.#statement).execute(tx);
      return rows;
    });
  }
}
