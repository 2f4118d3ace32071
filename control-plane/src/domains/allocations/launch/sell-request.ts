import { first } from '../../../platform/present.ts';
import { auditRows } from '../../../platform/audit/record.ts';
import { eventRows } from '../../../platform/events/emit.ts';
import { replyRows } from '../../../platform/http/idempotency.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import { startRows } from '../../../platform/workflows/workflow-client.ts';
import { accountKey, askedOf, type FundsCheck } from '../../billing/funds/commitments.ts';
import { modeForShape } from '../../fleet/index/placement-candidates.ts';
import { incrementsFor, counterKey, type Counter } from '../../quotas/counter.ts';
import { policyLimit } from '../../quotas/effective-limit.ts';
import type { LaunchCommitExtras, LaunchOrder } from './launch.ts';
import { provisionWorkflow } from './provision.workflow.ts';
import {
  allocationRows,
  claimColumns,
  provisionStarts,
  reservedEvents,
  type ReservedAllocation,
} from './record-launches.ts';

/** The argument of `sell`. Most parts are JSON already, and a batch is large: they are joined, not parsed again. */
export function sellRequest(
  policies: Policies,
  orders: readonly LaunchOrder[],
  reserved: readonly ReservedAllocation[],
  extras: readonly LaunchCommitExtras[],
  at: Date,
): string {
  const { taken, claims, claimants, claimed } = claimColumns(reserved);
  const parts = {
    funds: fundsOf(orders),
    quotas: quotasOf(policies, orders),
    hosts: hostsOf(reserved),
    slots: JSON.stringify(taken),
    gpu_models: JSON.stringify(reserved.flatMap(({ slotIds, gpuModel }) => slotIds.map(() => gpuModel))),
    silence_seconds: JSON.stringify(policies.get('fleet.unreachable_after_seconds')),
    allocations: allocationRows(reserved),
    decided_at: JSON.stringify(at),
    claims: JSON.stringify(claims),
    claimants: JSON.stringify(claimants),
    claimed_slots: JSON.stringify(claimed),
    events: eventRows(reservedEvents(reserved)),
    workflow: JSON.stringify(provisionWorkflow.name),
    workflow_starts: startRows(provisionWorkflow, provisionStarts(reserved)),
    audits: auditRows(extras.map(({ audit }) => audit)),
    replies: replyRows(extras.flatMap(({ answer }) => answer ?? [])),
  };
  return `{${Object.entries(parts)
    .map(([name, json]) => `"${name}":${json}`)
    .join(',')}}`;
}

/** Funds that must cover the batch, by tenant and currency; the lowest of balances read at different times. */
function fundsOf(orders: readonly LaunchOrder[]): string {
  const asking = orders.map(({ funds }) => funds).filter(({ seconds }) => seconds > 0);
  const accounts = Map.groupBy(asking, ({ organizationId, perHour }) =>
    accountKey(organizationId, perHour.currency),
  );
  return JSON.stringify(
    Array.from(accounts.values(), (launches) => ({
      tenant: first(launches, 'launch').organizationId,
      currency: first(launches, 'launch').perHour.currency,
      available: String(launches.map((one) => one.availableMicros).reduce((a, b) => (a < b ? a : b))),
      seconds: Math.max(...launches.map(({ seconds }) => seconds)),
      kept_seconds: Math.max(...launches.map(({ keptSeconds }) => keptSeconds)),
      asked: String(launches.reduce((sum, { perHour }) => sum + perHour.micros, 0n)),
      launches: askedByProject(launches),
    })),
  );
}

function askedByProject(launches: readonly FundsCheck[]): { project: string; sku: string; micros: string }[] {
  const groups = Map.groupBy(launches.map(askedOf), ({ projectId, sku }) => `${projectId} ${sku}`);
  return Array.from(groups.values(), (asked) => ({
    project: first(asked, 'launch').projectId,
    sku: first(asked, 'launch').sku,
    micros: String(asked.reduce((sum, { micros }) => sum + micros, 0n)),
  }));
}

/** The batch's use of each counter, and the limit where no quota is set. */
function quotasOf(policies: Policies, orders: readonly LaunchOrder[]): string {
  const counters = new Map<string, { counter: Counter; asked: bigint }>();
  for (const { counter, amount } of orders.flatMap(({ charge }) => incrementsFor(charge))) {
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

function hostsOf(reserved: readonly ReservedAllocation[]): string {
  const hosts = new Map(
    reserved.map(({ allocation: { node_id, capacity_shape, region } }) => [
      node_id,
      { id: node_id, mode: modeForShape(capacity_shape), region },
    ]),
  );
  return JSON.stringify([...hosts.values()]);
}
