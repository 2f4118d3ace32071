import { sql } from 'kysely';
import type { EventPayloads } from '@gpuaas/contracts/events';
import type { Tx } from '../../platform/db/database.ts';
import { formatMoney, formatRounded } from '../../platform/money.ts';
import type { NotifiableEvent } from './notified-events.ts';
import type { Facts } from './render-message.ts';

/** Facts that the texts of an event may use, formatted for people. */
export async function loadMessageFacts(tx: Tx, event: NotifiableEvent): Promise<Facts> {
  const tenant = await nameOf(tx, 'organizations', event.organizationId);
  return { tenant, correlation_id: event.correlationId, ...(await factsOf(tx, event)) };
}

async function factsOf(tx: Tx, event: NotifiableEvent): Promise<Facts> {
  switch (event.type) {
    case 'billing.low_balance_warning':
    case 'billing.balance_exhausted':
      return balanceFacts(event.payload);
    case 'billing.leases_stopped':
      return { released: String(event.payload.released) };
    case 'billing.budget_threshold_reached':
      return await budgetFacts(tx, event.payload);
    case 'payments.balance_credited':
    case 'payments.payment_failed':
    case 'payments.refunded':
    case 'payments.dispute_opened':
    case 'payments.dispute_closed':
      return paymentFacts(event.payload);
    case 'service_account.tokens_revoked': {
      const { name, revoked, left_by } = event.payload;
      return { service_account: name, revoked: String(revoked), left_by };
    }
    case 'service_account.rotation_due':
      return { service_account: event.payload.name, ends_at: inWords(event.payload.ends_at) };
    case 'maintenance.scheduled':
    case 'maintenance.cancelled': {
      const { allocation_id, starts_at, ends_at, reason } = event.payload;
      return {
        ...(await allocationFacts(tx, allocation_id)),
        starts_at: inWords(starts_at),
        ends_at: inWords(ends_at),
        reason,
      };
    }
    case 'reservation.lapsed': {
      const { node_count, region, reason, message } = event.payload;
      const nodes = node_count === 1 ? '1 host' : `${node_count} hosts`;
      return { nodes, region, reason, cause: message };
    }
    case 'incident.opened': {
      const { incident_id, title, severity, summary, runbook, deadline } = event.payload;
      return {
        incident_id,
        incident: title,
        incident_severity: severity,
        summary,
        runbook,
        deadline: inWords(deadline),
      };
    }
    default:
      return {
        ...(await allocationFacts(tx, event.payload.allocation_id)),
        message: event.payload.message,
      };
  }
}

function balanceFacts(payload: EventPayloads['billing.low_balance_warning']): Facts {
  const { currency } = payload;
  return {
    available: formatMoney({ currency, micros: BigInt(payload.available_micros) }),
    per_hour: formatMoney({ currency, micros: BigInt(payload.per_hour_micros) }),
    runs_out_at: inWords(payload.runs_out_at),
    stops_at: payload.stops_at ? inWords(payload.stops_at) : '',
    at_zero: payload.at_zero,
  };
}

type PaymentPayload =
  | EventPayloads['payments.balance_credited']
  | EventPayloads['payments.payment_failed']
  | EventPayloads['payments.refunded']
  | EventPayloads['payments.dispute_opened'];

function paymentFacts(payload: PaymentPayload): Facts {
  const money = (micros: number) => formatMoney({ currency: payload.currency, micros: BigInt(micros) });
  return {
    amount: money(payload.amount_micros),
    balance: 'balance_micros' in payload ? money(payload.balance_micros) : '',
    reason: 'reason' in payload ? payload.reason : '',
    dispute: 'state' in payload ? payload.state : '',
  };
}

async function budgetFacts(
  tx: Tx,
  payload: EventPayloads['billing.budget_threshold_reached'],
): Promise<Facts> {
  const { currency } = payload;
  return {
    budget_of: await budgetOwner(tx, payload),
    percent: String(Math.max(payload.percent, spentPercent(payload))),
    spent: formatRounded({ currency, micros: BigInt(payload.spent_micros) }),
    monthly: formatRounded({ currency, micros: BigInt(payload.monthly_micros) }),
    at_cap: atCap(payload.at_cap, payload.percent >= 100),
  };
}

/** Of what was spent by now, which may be more than the threshold that was reached. */
function spentPercent({
  spent_micros,
  monthly_micros,
}: {
  spent_micros: number;
  monthly_micros: number;
}): number {
  return monthly_micros === 0 ? 0 : Math.floor((spent_micros / monthly_micros) * 100);
}

async function budgetOwner(
  tx: Tx,
  {
    scope_type: type,
    scope_id: id,
    organization_id: tenant,
  }: EventPayloads['billing.budget_threshold_reached'],
): Promise<string> {
  const organization = await nameOf(tx, 'organizations', tenant);
  if (type === 'tenant') return organization;
  if (type === 'project') return `project ${await nameOf(tx, 'projects', id)} in ${organization}`;
  if (type === 'team') return `team ${await nameOf(tx, 'teams', id)} in ${organization}`;
  return `a member of ${organization}`;
}

function atCap(action: 'notify' | 'refuse' | 'release', reached: boolean): string {
  const when = reached ? 'Until the end of the month' : 'When the limit is reached';
  if (action === 'notify') return 'Alert only: nothing is blocked or stopped.';
  if (action === 'refuse')
    return `${when}, launches under this budget are refused; running machines continue.`;
  return `${when}, launches under this budget are refused, and running leases are released and their disks wiped.`;
}

export async function allocationFacts(tx: Tx, allocationId: string): Promise<Facts> {
  const row = await tx
    .selectFrom('allocations')
    .select(['name', 'ends_at'])
    .where('id', '=', allocationId)
    .executeTakeFirst();
  return {
    allocation: row?.name ?? allocationId,
    allocation_id: allocationId,
    ends_at: row?.ends_at ? inWords(row.ends_at.toISOString()) : '',
  };
}

async function nameOf(
  tx: Tx,
  table: 'organizations' | 'projects' | 'teams',
  id: string | null,
): Promise<string> {
  if (id === null) return 'the platform';
  const { rows } = await sql<{
    name: string;
  }>`select name from ${sql.table(table)} where id = ${id}`.execute(tx);
  return rows[0]?.name ?? id;
}

const WORDS = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

function inWords(timestamp: string): string {
  return `${WORDS.format(new Date(timestamp))} UTC`;
}
