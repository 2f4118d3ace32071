import { sql } from 'kysely';
import { auditRows } from '../../platform/audit/record.ts';
import { isServerError } from '../../platform/db/database.ts';
import { statementsAs } from '../../platform/db/scope.ts';
import { eventRows } from '../../platform/events/emit.ts';
import { tellReconsidered } from '../../platform/group-commit.ts';
import { answerRows } from '../../platform/http/idempotency.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import type { Services } from '../../platform/services.ts';
import { startRows } from '../../platform/workflows/workflow-client.ts';
import { mostOnTheirWay } from '../billing/launches-on-their-way.ts';
import { fleetIndexOf } from '../fleet/fleet-index-of.ts';
import type { Hold } from '../fleet/fleet-index.ts';
import { modeFor } from '../fleet/placement-candidates.ts';
import { asksOf, counterKey, type Counter } from '../quotas/counter.ts';
import { policyLimit } from '../quotas/effective-limit.ts';
import { leaseEnd } from './launch-request.ts';
import type { AllocationRow } from './move-allocation.ts';
import { provisionWorkflow } from './provision.workflow.ts';
import { allocationRows, claimColumns, eventsOf, reservedRow, startsOf, type Sale } from './record-sales.ts';
import type { Order } from './sell-together.ts';

/** Names the desk in metrics. */
export const LAUNCH_DESK = 'launches';

type Scheduler = Pick<Services, 'db' | 'policies'>;
type Placed = { order: Order; hold: Hold };

/**
 * How nearly all sales go: placed by what the process knows of the fleet, and written by one statement that checks
 * everything they were decided from: money, quotas, hosts, slots. What does not hold any more, or has no room, is left out
 * of the answer and must be decided with care.
 */
export async function sellAtOnce(
  services: Scheduler,
  orders: readonly Order[],
): Promise<Map<Order, AllocationRow>> {
  const fleet = fleetIndexOf(services);
  const placed = orders
    // What is sealed for the machine is written by a statement of its own.
    .filter(({ userData }) => userData === null)
    .flatMap((order): Placed[] => {
      const { hold } = fleet.place(order.request, order.offer.allowedGpuCounts);
      return hold ? [{ order, hold }] : [];
    });
  if (placed.length === 0) return new Map();
  try {
    const { sold, xid } = await write(services, placed, fleet.lookedAt);
    fleet.settle(
      placed.map(({ hold }) => hold),
      xid,
    );
    return sold;
  } catch (error) {
    for (const { hold } of placed) fleet.giveBack(hold);
    if (!isServerError(error)) throw error;
    tellReconsidered({ desk: LAUNCH_DESK, size: placed.length });
    return new Map();
  }
}

async function write(
  { db, policies }: Scheduler,
  placed: readonly Placed[],
  at: Date,
): Promise<{ sold: Map<Order, AllocationRow>; xid: string }> {
  const sales = placed.map(({ order: { allocation, offer, request }, hold }): Sale => ({
    allocation: { ...allocation, node_id: hold.nodeId, ends_at: leaseEnd(request) },
    slotIds: hold.slotIds,
    gpuModel: offer.gpuModel,
  }));
  const sold = new Map(
    placed.map(({ order }, index) => [order, reservedRow(sales[index]!.allocation, at)] as const),
  );
  const papers = Array.from(sold, ([order, row]) => order.papers(row));
  const { taken, claims, claimants, claimed } = claimColumns(sales);
  const models = sales.flatMap(({ slotIds, gpuModel }) => slotIds.map(() => gpuModel));
  const orders = placed.map(({ order }) => order);
  const { rows } = await sql<{ xid: string }>`
    select sell(${fundsOf(orders)}, ${quotasOf(policies, orders)}, ${hostsOf(sales)}, ${uuids(taken)}::uuid[],
      ${models}::text[], ${policies.get('fleet.unreachable_after_seconds')}::integer, ${allocationRows(sales)},
      ${at}::timestamptz, ${uuids(claims)}::uuid[], ${uuids(claimants)}::uuid[], ${uuids(claimed)}::uuid[],
      ${eventRows(eventsOf(sales))}, ${provisionWorkflow.name}, ${startRows(startsOf(sales))},
      ${auditRows(papers.map(({ audit }) => audit))}, ${answerRows(papers.flatMap(({ answer }) => answer ?? []))})
      as xid`.execute(statementsAs(db, 'gpuaas_placement'));
  return { sold, xid: rows[0]!.xid };
}

/** What all of them together may not exceed, by tenant and currency. */
function fundsOf(orders: readonly Order[]): string {
  const asking = orders.map(({ funds }) => funds).filter(({ seconds }) => seconds > 0);
  const accounts = Map.groupBy(
    asking,
    ({ organizationId, perHour }) => `${organizationId} ${perHour.currency}`,
  );
  return JSON.stringify(
    Array.from(accounts.values(), (launches) => ({
      tenant: launches[0]!.organizationId,
      currency: launches[0]!.perHour.currency,
      asked: String(launches.reduce((sum, { perHour }) => sum + perHour.micros, 0n)),
      most: String(launches.map(mostOnTheirWay).reduce((least, most) => (most < least ? most : least))),
    })),
  );
}

/** What all of them together ask of each counter, and what holds where nobody set a quota. */
function quotasOf(policies: Policies, orders: readonly Order[]): string {
  const counters = new Map<string, { counter: Counter; asked: bigint }>();
  for (const { counter, amount } of orders.flatMap(({ charge }) => asksOf(charge))) {
    const key = counterKey(counter);
    const known = counters.get(key);
    if (known) known.asked += amount;
    else counters.set(key, { counter, asked: amount });
  }
  return JSON.stringify(
    Array.from(counters.values(), ({ counter, asked }) => ({
      o: counter.organizationId,
      t: counter.holderType,
      h: counter.holderId,
      m: counter.measure,
      u: counter.unit,
      asked: String(asked),
      most: String(policyLimit(policies, counter)),
    })),
  );
}

function hostsOf(sales: readonly Sale[]): string {
  const hosts = new Map(
    sales.map(({ allocation: { node_id, capacity_shape, region } }) => [
      node_id,
      { id: node_id, mode: modeFor(capacity_shape), region },
    ]),
  );
  return JSON.stringify([...hosts.values()]);
}

/** As PostgreSQL writes arrays. A UUID needs no quotes, and thousands of them take time. */
function uuids(ids: readonly (string | null)[]): string {
  return `{${ids.map((id) => id ?? 'NULL').join(',')}}`;
}
