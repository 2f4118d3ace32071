import { first, present } from '../../../platform/present.ts';
import { auditRows } from '../../../platform/audit/record.ts';
import { eventRows } from '../../../platform/events/emit.ts';
import { replyRows } from '../../../platform/http/idempotency.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import { startRows } from '../../../platform/workflows/workflow-client.ts';
import { accountKey, askedOf, storedLaunch, type BatchLaunch } from '../../billing/funds/commitments.ts';
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
    funds: fundsOf(
      orders.map(({ funds }, index) => ({
        funds,
        nodeId: present(reserved[index], 'reserved').allocation.node_id,
      })),
    ),
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
function fundsOf(launches: readonly BatchLaunch[]): string {
  const asking = launches.filter(({ funds }) => funds.seconds > 0);
  const accounts = Map.groupBy(asking, ({ funds }) =>
    accountKey(funds.organizationId, funds.perHour.currency),
  );
  return JSON.stringify(
    Array.from(accounts.values(), (own) => {
      const funds = own.map((one) => one.funds);
      const { organizationId, perHour } = first(funds, 'launch');
      return {
        tenant: organizationId,
        currency: perHour.currency,
        available: String(funds.map((one) => one.availableMicros).reduce((a, b) => (a < b ? a : b))),
        seconds: Math.max(...funds.map(({ seconds }) => seconds)),
        kept_seconds: Math.max(...funds.map(({ keptSeconds }) => keptSeconds)),
        asked: String(funds.reduce((sum, one) => sum + one.perHour.micros, 0n)),
        launches: own.map((one) => storedLaunch(askedOf(one.funds, one.nodeId))),
      };
    }),
  );
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
