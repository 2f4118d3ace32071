import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { moneyJson } from '../../platform/money.ts';

export type StatementDocument = components['schemas']['Statement'];
type AppLine = components['schemas']['StatementAppUsage'];

/** Cost of a lease in the month, from the ledger. */
export interface UsageFact {
  allocationId: string;
  projectId: string;
  sku: string;
  region: string;
  gpuCount: number;
  perHourMicros: bigint;
  from: Date;
  to: Date;
  seconds: bigint;
  /** Effect on the balance. */
  amountMicros: bigint;
}

/** Usage of an app at one price. */
export interface AppUsageFact {
  projectId: string;
  app: string;
  dimension: AppLine['dimension'];
  perBlockMicros: bigint;
  block: bigint;
  from: Date;
  to: Date;
  quantity: bigint;
  /** Effect on the balance. */
  amountMicros: bigint;
}

/** Any other ledger transaction of the month. */
export interface TransactionFact {
  transactionId: string;
  kind: string;
  reason: string;
  postedAt: Date;
  amountMicros: bigint;
  taxMicros: bigint;
}

export interface StatementFacts {
  id: string;
  number: string;
  organizationId: string;
  currency: string;
  month: string;
  closedAt: Date;
  openingMicros: bigint;
  taxMicros: bigint;
  usage: readonly UsageFact[];
  appUsage: readonly AppUsageFact[];
  movements: readonly TransactionFact[];
  names: Names;
}

/** Names at the time of closing; the ledger has ids only. */
export interface Names {
  organization: string;
  projects: ReadonlyMap<string, string>;
  allocations: ReadonlyMap<string, string>;
}

const PAYMENTS = ['payment', 'refund', 'dispute'];
const CORRECTIONS = ['adjustment', 'usage_correction'];

/** The statement of a month. Pure, so that the same ledger always gives the same bytes. */
export function buildStatement(facts: StatementFacts): StatementDocument {
  const { currency, names } = facts;
  const money = (micros: bigint) => moneyJson({ currency, micros });
  const of = (kinds: (kind: string) => boolean) => facts.movements.filter(({ kind }) => kinds(kind));
  const credits = of((kind) => kind === 'credit');
  const payments = of((kind) => PAYMENTS.includes(kind));
  const corrections = of((kind) => CORRECTIONS.includes(kind));
  const other = of((kind) => kind !== 'credit' && !PAYMENTS.includes(kind) && !CORRECTIONS.includes(kind));
  const usage = sum(facts.usage);
  const apps = sum(facts.appUsage);
  const closing = facts.openingMicros + usage + apps + sum(facts.movements);
  const usesApps = facts.appUsage.length > 0;
  return {
    id: facts.id,
    number: facts.number,
    organization_id: facts.organizationId,
    organization_name: names.organization,
    currency,
    month: facts.month,
    closed_at: facts.closedAt.toISOString(),
    opening_balance: money(facts.openingMicros),
    closing_balance: money(closing),
    totals: {
      usage: money(usage),
      ...(usesApps ? { app_usage: money(apps) } : {}),
      payments: money(sum(payments)),
      credits: money(sum(credits)),
      corrections: money(sum(corrections)),
      other: money(sum(other)),
      tax: money(facts.taxMicros),
    },
    usage: facts.usage.map((line) => ({
      allocation_id: line.allocationId,
      allocation_name: names.allocations.get(line.allocationId) ?? line.allocationId,
      project_id: line.projectId,
      project_name: names.projects.get(line.projectId) ?? line.projectId,
      sku: line.sku,
      region: line.region,
      gpu_count: line.gpuCount,
      per_hour: money(line.perHourMicros),
      from: line.from.toISOString(),
      to: line.to.toISOString(),
      seconds: Number(line.seconds),
      amount: money(line.amountMicros),
    })),
    ...(usesApps ? { app_usage: facts.appUsage.map(appLine) } : {}),
    payments: payments.map(movement),
    credits: credits.map(movement),
    corrections: corrections.map(movement),
    other: other.map(movement),
  };

  function appLine(line: AppUsageFact): AppLine {
    return {
      project_id: line.projectId,
      project_name: names.projects.get(line.projectId) ?? line.projectId,
      app: line.app,
      dimension: line.dimension,
      price: money(line.perBlockMicros),
      per: Number(line.block),
      from: line.from.toISOString(),
      to: line.to.toISOString(),
      quantity: Number(line.quantity),
      amount: money(line.amountMicros),
    };
  }

  function movement({ transactionId, kind, reason, postedAt, amountMicros, taxMicros }: TransactionFact) {
    return {
      transaction_id: transactionId,
      kind,
      reason,
      posted_at: postedAt.toISOString(),
      amount: money(amountMicros),
      ...(taxMicros === 0n ? {} : { tax: money(taxMicros) }),
    };
  }
}

function sum(facts: readonly { amountMicros: bigint }[]): bigint {
  return facts.reduce((total, { amountMicros }) => total + amountMicros, 0n);
}

/** The names that a statement was closed with. */
export function namesInStatement(document: StatementDocument): Names {
  return {
    organization: document.organization_name,
    projects: new Map(
      [...document.usage, ...(document.app_usage ?? [])].map((line) => [line.project_id, line.project_name]),
    ),
    allocations: new Map(document.usage.map((line) => [line.allocation_id, line.allocation_name])),
  };
}
