import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Capacity } from '../../../allocations/capacity.ts';
import type { BudgetSpend } from '../../../billing/budgets/budget-spend.ts';
import type { QuotaExcess } from '../../../quotas/check-charges.ts';
import { describeExcess } from '../../../quotas/quota-exceeded.ts';
import { moneyJson } from '../../../../platform/money.ts';

export type Gate = components['schemas']['AppGate'];

/** What gates look at, read in the transaction of the decision. */
export interface Snapshot {
  /** The version that the instance starts from is still offered. */
  offered: boolean;
  /** Why its version or artifact may not start any more. */
  refusal: { reason: Gate['reason']; message: string } | null;
  missingSecrets: readonly string[];
  quota: readonly QuotaExcess[];
  exhausted: Pick<BudgetSpend, 'id' | 'scopeType' | 'currency' | 'monthlyMicros' | 'spentMicros'> | null;
  capacity: Pick<Capacity, 'state' | 'desiredState' | 'observedState'>;
  liveClaims: number;
}

/** Null lets the instance through. */
type Check = (snapshot: Snapshot) => Omit<Gate, 'gate'> | null;

/** In the order in which they are asked; the first that is closed is shown. */
const gates: readonly { gate: Gate['gate']; check: Check }[] = [
  { gate: 'policy', check: policy },
  { gate: 'quota', check: quota },
  { gate: 'budget', check: budget },
  { gate: 'capacity', check: capacity },
];

/** The first gate that is closed, with its numbers; null if the instance may start. */
export function firstClosedGate(snapshot: Snapshot): Gate | null {
  for (const { gate, check } of gates) {
    const closed = check(snapshot);
    if (closed) return { gate, ...closed };
  }
  return null;
}

function policy({ offered, refusal, missingSecrets }: Snapshot): ReturnType<Check> {
  if (!offered) return reject('The app is no longer offered.');
  if (refusal) return { outcome: 'reject', facts: {}, ...refusal };
  if (missingSecrets.length === 0) return null;
  const names = missingSecrets.join(', ');
  return reject(`The project has no secret ${names}.`, { missing_secrets: missingSecrets });
}

function quota({ quota: exceeded }: Snapshot): ReturnType<Check> {
  const [first] = exceeded;
  if (!first) return null;
  const { holder, used, limit } = describeExcess(first);
  return {
    outcome: 'wait',
    reason: 'quota',
    message: `The ${holder.type} runs ${used} of ${limit} app instances.`,
    facts: { exceeded: exceeded.map(describeExcess) },
  };
}

function budget({ exhausted }: Snapshot): ReturnType<Check> {
  if (!exhausted) return null;
  const { currency, monthlyMicros, spentMicros, scopeType, id } = exhausted;
  return {
    outcome: 'wait',
    reason: 'budget',
    message: `The monthly budget of the ${scopeType} is exhausted.`,
    facts: {
      budget_id: id,
      scope_type: scopeType,
      monthly: moneyJson({ currency, micros: monthlyMicros }),
      spent: moneyJson({ currency, micros: spentMicros }),
    },
  };
}

const ON_THE_WAY: ReadonlySet<string> = new Set(['queued', 'reserved', 'provisioning']);

function capacity({
  capacity: { state, desiredState, observedState },
  liveClaims,
}: Snapshot): ReturnType<Check> {
  const facts = { allocation_state: state, observed_state: observedState };
  const wait = (message: string): ReturnType<Check> => ({
    outcome: 'wait',
    reason: 'capacity',
    message,
    facts,
  });
  if (desiredState !== 'active') return reject('The allocation is being released.', facts);
  if (ON_THE_WAY.has(state)) return wait(`The allocation is ${state}.`);
  if (state !== 'active' || liveClaims === 0) return reject(`The allocation is ${state}.`, facts);
  if (observedState === 'absent') return wait('The host does not run the machine of the allocation.');
  return null;
}

function reject(message: string, facts: Record<string, unknown> = {}): ReturnType<Check> {
  return { outcome: 'reject', reason: 'rejected', message, facts };
}
